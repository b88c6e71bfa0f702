//! Names of imported modules, and where they come from: the modules handed in with the call.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module, Result};

use super::raw;

/// The full name of a module that `base` imports as `name`: `./b.js` and `../b.js` are beside the
/// importing one, everything else is a full name already.
pub(super) fn resolved(base: &str, name: &str) -> Result<String> {
    if !name.starts_with("./") && !name.starts_with("../") {
        return Ok(name.to_owned());
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(not_there(base, name));
                }
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

fn not_there(base: &str, name: &str) -> Error {
    Error::new_resolving_message(base, name, format!("Module not found! [{name}]"))
}

/// A module that was asked for and not handed in.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    pub(super) unit: String,
    pub(super) name: String,
}

/// The modules of a call, by name.
pub(super) type Modules = Rc<Vec<(String, Arc<[u8]>)>>;

/// Finds modules among those handed in, and notes the first that is not.
#[derive(Clone)]
pub(super) struct HandedIn {
    pub(super) modules: Modules,
    pub(super) missing: Rc<RefCell<Option<Missing>>>,
}

impl Resolver for HandedIn {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let full = resolved(base, name)?;
        if self.modules.iter().any(|(module, _)| *module == full) {
            return Ok(full);
        }
        self.missing
            .borrow_mut()
            .get_or_insert_with(|| Missing { unit: base.to_owned(), name: full.clone() });
        Err(not_there(base, &full))
    }
}

impl Loader for HandedIn {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        match self.modules.iter().find(|(module, _)| module == name) {
            Some((_, bytes)) => raw::load(ctx, bytes),
            None => Err(not_there("", name)),
        }
    }
}
