//! The global object `shop`, and the context that units find.

use rquickjs::context::intrinsic;
use rquickjs::{Array, Context, Ctx, Function, Module, Result, Runtime};

use super::compile::compile;
use super::raw;
use crate::analysis::SyntaxError;
use crate::message::Setup;

/// What units find beside the language itself. `Eval` is not among it: no text becomes code.
type Found = (
    intrinsic::Date,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// What every context begins with.
pub(super) struct Shop {
    prelude: Vec<u8>,
    facade: Option<Vec<u8>>,
    functions: Vec<String>,
}

impl Shop {
    /// Compiles what the engine said `shop` is made of.
    pub(super) fn new(setup: &Setup) -> std::result::Result<Self, SyntaxError> {
        let facade = match setup.facade.as_str() {
            "" => None,
            source => Some(compile("sandbox/facade", source)?.bytecode),
        };
        Ok(Self { prelude: prelude()?, facade, functions: setup.functions.clone() })
    }

    /// A context with nothing in it yet.
    pub(super) fn context(runtime: &Runtime) -> Result<Context> {
        Context::custom::<Found>(runtime)
    }

    /// Makes `shop` in a context, whose functions call `call`. The function that is answered adds the data of a call
    /// and closes it.
    pub(super) fn install<'js>(&self, ctx: &Ctx<'js>, call: Function<'js>) -> Result<Function<'js>> {
        let install: Function = exported(ctx, &self.prelude)?;
        let facade = self.facade.as_ref().map(|facade| exported::<Function>(ctx, facade)).transpose()?;
        let functions = Array::new(ctx.clone())?;
        for (index, name) in self.functions.iter().enumerate() {
            functions.set(index, name.as_str())?;
        }
        match facade {
            Some(facade) => install.call((call, functions, facade)),
            None => install.call((call, functions)),
        }
    }

    /// Runs a script once before the process shuts itself in, so that whatever the libraries under it
    /// do only the first time (the time zone, the allocator's look at the machine) is done.
    pub(super) fn warm_up() {
        let warm = || -> Result<()> {
            let runtime = Runtime::new()?;
            let context = Context::full(&runtime)?;
            context.with(|ctx| {
                ctx.eval::<f64, _>("new Date().getTimezoneOffset() + Math.random() + Date.now()")
            })?;
            Ok(())
        };
        // If it cannot run a script now it cannot later either, and says so then.
        let _ = warm();
        let _ = prelude();
    }

    /// Names that units find without declaring them.
    pub(super) fn known_names() -> Vec<String> {
        let names = || -> Result<Vec<String>> {
            let runtime = Runtime::new()?;
            let context = Self::context(&runtime)?;
            context.with(|ctx| {
                let all = rquickjs::object::Filter::new().string();
                ctx.globals().own_keys::<String>(all).collect()
            })
        };
        let mut names = names().unwrap_or_default();
        names.retain(|name| !["Atomics", "SharedArrayBuffer", "eval"].contains(&name.as_str()));
        names.extend(["shop", "undefined", "arguments"].map(str::to_owned));
        names
    }
}

fn prelude() -> std::result::Result<Vec<u8>, SyntaxError> {
    Ok(compile("sandbox/prelude", include_str!("prelude.js"))?.bytecode)
}

/// The default export of a module of ours, which imports nothing.
fn exported<'js, T: rquickjs::FromJs<'js>>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<T> {
    let (module, _) = raw::load(ctx, bytecode)?.eval()?;
    Module::get(&module, "default")
}
