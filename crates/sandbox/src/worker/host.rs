//! Host calls: the script asks, the engine answers over the socket, and may call another unit meanwhile.

use std::rc::Rc;

use rquickjs::{Array, Ctx, Error, Exception, Function, Result, Value as ScriptValue};

use super::convert::{self, FromScript, NoData};
use super::engine::Engine;
use super::failure;
use super::limits::{Budget, Stop};
use super::shop::Shop;
use crate::call::{HostError, Limit};
use crate::message::{Fault, FromWorker, Request, ToWorker};
use crate::value::Value;

/// Carries out a call of another unit.
pub(super) type RunUnit = fn(&Engine, &Rc<Shop>, Request) -> std::result::Result<FromWorker, Fault>;

/// The function behind every function of `shop`; the engine may have other units run by `run` meanwhile.
pub(super) fn function<'js>(
    ctx: &Ctx<'js>,
    engine: &Engine,
    shop: &Rc<Shop>,
    budget: &Rc<Budget>,
    run: RunUnit,
) -> Result<Function<'js>> {
    let caller = Caller { engine: engine.clone(), shop: Rc::clone(shop), budget: Rc::clone(budget), run };
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String, args: Array<'js>| {
        caller.call(&ctx, name, &args)
    })
}

struct Caller {
    engine: Engine,
    shop: Rc<Shop>,
    budget: Rc<Budget>,
    run: RunUnit,
}

impl Caller {
    fn call<'js>(&self, ctx: &Ctx<'js>, name: String, args: &Array<'js>) -> Result<ScriptValue<'js>> {
        if self.budget.is_spent() {
            return Err(self.stopped(ctx));
        }
        if !self.budget.call() {
            return Err(self.stop(ctx, Stop::Limit(Limit::Calls)));
        }
        let args = match FromScript::new(ctx, self.budget.output).args(args) {
            Ok(args) => args,
            Err(NoData::TooMuch) => return Err(self.stop(ctx, Stop::Limit(Limit::Output))),
            Err(NoData::NotPlain(why)) => {
                return Err(Exception::throw_type(
                    ctx,
                    &format!("{name}: an argument is no plain data: {why}"),
                ));
            }
            Err(NoData::Threw) => return Err(Error::Exception),
        };
        match self.ask(name, args) {
            Ok(Ok(value)) => convert::to_script(ctx, &value),
            Ok(Err(error)) if error.fatal => Err(self.stop(ctx, Stop::Host(error))),
            Ok(Err(error)) => Err(failure::throw(ctx, &error)),
            Err(()) => Err(self.stop(ctx, Stop::Line)),
        }
    }

    /// Asks the engine. Until it answers it may have other units called here.
    fn ask(
        &self,
        name: String,
        args: Vec<Value>,
    ) -> std::result::Result<std::result::Result<Value, HostError>, ()> {
        self.engine.tell(&FromWorker::HostCall { name, args }).map_err(drop)?;
        loop {
            match self.engine.hear().map_err(drop)? {
                ToWorker::Answer(value) => return Ok(Ok(value)),
                ToWorker::Refuse(error) => return Ok(Err(error)),
                ToWorker::Call(request) => {
                    let done = (self.run)(&self.engine, &self.shop, *request).map_err(drop)?;
                    self.engine.tell(&done).map_err(drop)?;
                }
                _ => return Err(()),
            }
        }
    }

    /// Stops the script here.
    fn stop(&self, ctx: &Ctx<'_>, cause: Stop) -> Error {
        self.budget.stop(cause, failure::stack_here(ctx));
        self.stopped(ctx)
    }

    /// What a script that is being stopped sees, until the interpreter next asks whether to go on.
    fn stopped(&self, ctx: &Ctx<'_>) -> Error {
        Exception::throw_internal(ctx, "stopped")
    }
}
