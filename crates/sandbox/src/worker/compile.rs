//! Compiling a module to bytecode.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Context, Ctx, Module, Result, Runtime};

use super::allocator::{Counting, Meter};
use super::failure;
use super::limits::STACK;
use super::resolve::resolved;
use crate::analysis::SyntaxError;

/// Memory for the compiler.
const MEMORY: u64 = 64 << 20;

/// A compiled module.
pub(super) struct Bytecode {
    pub(super) bytecode: Vec<u8>,
    pub(super) imports: Vec<String>,
}

/// Compiles a module in an interpreter of its own.
pub(super) fn compile(name: &str, source: &str) -> std::result::Result<Bytecode, SyntaxError> {
    let meter = Meter::new(MEMORY);
    let imports = Rc::new(RefCell::new(Vec::new()));
    let started = std::time::Instant::now();
    let over = Rc::clone(&meter);
    let done = (|| {
        let runtime = Runtime::new_with_alloc(Counting(Rc::clone(&meter)))?;
        runtime.set_max_stack_size(STACK);
        runtime.set_loader(Imports(Rc::clone(&imports)), Empty);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            over.is_over() || started.elapsed() > Duration::from_secs(2)
        })));
        let context = Context::full(&runtime)?;
        Ok::<_, rquickjs::Error>(context.with(|ctx| {
            let written = Module::declare(ctx.clone(), name, source).and_then(|module| {
                module.write(WriteOptions { strip_source: true, ..WriteOptions::default() })
            });
            written.map_err(|error| failure::syntax(&ctx, name, &error))
        }))
    })();
    match done {
        Ok(Ok(bytecode)) => Ok(Bytecode { bytecode, imports: imports.take() }),
        Ok(Err(error)) => Err(error),
        Err(error) => Err(SyntaxError { unit: name.to_owned(), line: 1, column: 1, text: error.to_string() }),
    }
}

/// Writes down what is imported.
struct Imports(Rc<RefCell<Vec<String>>>);

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let name = resolved(base, name)?;
        let mut imports = self.0.borrow_mut();
        if !imports.contains(&name) {
            imports.push(name.clone());
        }
        Ok(name)
    }
}

/// Stands for each module that is imported: what it exports is asked only when it is called.
struct Empty;

impl Loader for Empty {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        Module::declare(ctx.clone(), name, "")
    }
}
