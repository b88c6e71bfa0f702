//! Host calls: the script asks, the engine answers over the socket, and may call another unit meanwhile.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Array, Ctx, Error, Exception, Function, Result, Value as ScriptValue};

use super::convert::{self, FromScript, NoData};
use super::engine::Engine;
use super::failure;
use super::limits::{Budget, Stop};
use crate::call::{HostError, Limit};
use crate::message::{Fault, FromWorker, Request, ToWorker};
use crate::value::Value;

/// Carries out a call of another unit.
pub(super) type RunUnit = Box<dyn Fn(Request) -> std::result::Result<FromWorker, Fault>>;

/// The function behind every function of `shop`; the engine may have other units run by `run` meanwhile.
pub(super) fn function<'js>(
    ctx: &Ctx<'js>,
    engine: &Engine,
    late: &Rc<Late>,
    run: RunUnit,
) -> Result<Function<'js>> {
    let caller = Caller { engine: engine.clone(), late: Rc::clone(late), run };
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String, args: Array<'js>| {
        let Some(budget) = caller.late.budget() else {
            return Err(Exception::throw_internal(&ctx, "no call runs"));
        };
        Call { caller: &caller, budget: &budget }.call(&ctx, name, &args)
    })
}

/// The limits of a call, which begins when the function behind its host calls is long made.
#[derive(Default)]
pub(super) struct Late(RefCell<Option<Rc<Budget>>>);

impl Late {
    /// The call begins.
    pub(super) fn begin(&self, budget: &Rc<Budget>) {
        self.0.replace(Some(Rc::clone(budget)));
    }

    fn budget(&self) -> Option<Rc<Budget>> {
        self.0.borrow().clone()
    }
}

struct Caller {
    engine: Engine,
    late: Rc<Late>,
    run: RunUnit,
}

/// One host call.
struct Call<'a> {
    caller: &'a Caller,
    budget: &'a Rc<Budget>,
}

impl Call<'_> {
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
        let Caller { engine, run, .. } = self.caller;
        engine.tell(&FromWorker::HostCall { name, args }).map_err(drop)?;
        loop {
            match engine.hear().map_err(drop)? {
                ToWorker::Answer(value) => return Ok(Ok(value)),
                ToWorker::Refuse(error) => return Ok(Err(error)),
                ToWorker::Call(request) => {
                    let done = run(*request).map_err(drop)?;
                    engine.tell(&done).map_err(drop)?;
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
