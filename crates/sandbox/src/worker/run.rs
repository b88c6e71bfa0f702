//! One call: an interpreter that served no other, the modules handed in, the function, its value.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use rquickjs::function::Args;
use rquickjs::{Context, Ctx, Error, Function, Module, Object, Persistent, Promise, Runtime};

use super::convert::{self, FromScript, NoData};
use super::engine::Engine;
use super::failure::{self, Caught};
use super::limits::{Budget, Stop};
use super::raw;
use super::ready::{Ready, Supply, Used};
use super::resolve::{HandedIn, Missing};
use super::shop::Shop;
use crate::call::{CallError, Limit, Place};
use crate::message::{Fault, FromWorker, Request};
use crate::value::Value;

/// How many jobs still run in a script that was stopped.
const LAST_WORDS: u32 = 16;

/// A promise that outlives one visit to the context.
type Held = Persistent<Promise<'static>>;

/// The function that adds the data of a call to `shop`.
type Finish = Persistent<Function<'static>>;

/// What a worker runs units with.
pub(super) struct Runner {
    engine: Engine,
    shop: Shop,
    supply: Supply,
}

impl Runner {
    /// A worker's, whose units find this `shop`.
    pub(super) fn new(engine: Engine, shop: Shop) -> Rc<Self> {
        Rc::new(Self { engine, shop, supply: Supply::default() })
    }

    /// Carries out a call. An error means that the engine is gone.
    pub(super) fn run(self: &Rc<Self>, request: Request) -> Result<FromWorker, Fault> {
        let began = Instant::now();
        let ready = match self.supply.take().map_or_else(|| self.make(), Ok) {
            Ok(ready) => ready,
            Err(error) => {
                let lost = CallError::WorkerLost { text: error.to_string() };
                return Ok(FromWorker::Failed(Box::new(lost)));
            }
        };
        let Ready { finish, context, runtime, meter, late } = ready;
        let budget = Budget::new(Rc::clone(&meter), began, &request);
        late.begin(&budget);
        let result = Run { budget: &budget, runtime: &runtime, context: &context, request }.outcome(finish);
        let stopped = budget.stopped();
        self.supply.put_away(Used { _context: context, _runtime: runtime, meter });
        match (stopped, result) {
            (Some(Stop::Line), _) => Err(Fault::Gone),
            (_, Ok(value)) => Ok(FromWorker::Done(value)),
            (_, Err(error)) => Ok(FromWorker::Failed(Box::new(error))),
        }
    }

    /// Ends the interpreters that have served, and makes others for as long as the engine wants nothing.
    pub(super) fn prepare(self: &Rc<Self>) {
        self.supply.clear();
        while self.supply.is_short() && self.engine.is_silent() {
            // If it cannot be made now, the call that needs it says so.
            let Ok(ready) = self.make() else { return };
            self.supply.add(ready);
        }
    }

    fn make(self: &Rc<Self>) -> rquickjs::Result<Ready> {
        // It lies in what this holds, so it must not hold this.
        let runner = Rc::downgrade(self);
        let run = move |request| runner.upgrade().ok_or(Fault::Gone)?.run(request);
        Ready::new(&self.engine, &self.shop, Box::new(run))
    }
}

struct Run<'a> {
    budget: &'a Rc<Budget>,
    runtime: &'a Runtime,
    context: &'a Context,
    request: Request,
}

/// Why there is no value yet.
enum Not {
    /// The script threw, or was stopped.
    Thrown(Caught),
    /// The call failed otherwise.
    Failed(CallError),
}

impl Run<'_> {
    fn entry(&self) -> &str {
        self.request.modules.first().map_or("", |(name, _)| name)
    }

    fn outcome(&self, finish: Finish) -> Result<Value, CallError> {
        let value = self.interpret(finish);
        let stopped = self.budget.stopped().is_some();
        match value {
            Ok(value) if !stopped => Ok(value),
            Err(Not::Failed(error)) if !stopped => Err(error),
            Ok(_) | Err(Not::Failed(_)) => Err(failure::failure(self.budget, self.entry(), None)),
            Err(Not::Thrown(caught)) => Err(failure::failure(self.budget, self.entry(), Some(caught))),
        }
    }

    /// Runs everything in the interpreter.
    fn interpret(&self, finish: Finish) -> Result<Value, Not> {
        let (runtime, context) = (self.runtime, self.context);
        let budget = Rc::clone(self.budget);
        runtime.set_interrupt_handler(Some(Box::new(move || budget.is_spent())));
        let modules = Rc::new(self.request.modules.clone());
        let missing = Rc::new(RefCell::new(None));
        let handed_in = HandedIn { modules, missing: Rc::clone(&missing) };
        runtime.set_loader(handed_in.clone(), handed_in);

        let imported = context
            .with(|ctx| self.import(&ctx, finish).map_err(|error| thrown(&ctx, &error)))
            .and_then(|held| {
                self.settle(&held)?;
                context.with(|ctx| result(&ctx, held.clone()).map(drop))?;
                Ok(held)
            });
        let namespace = match (imported, missing.take()) {
            (Err(Not::Thrown(_)), Some(Missing { unit, name })) => {
                return Err(Not::Failed(CallError::NoModule { unit, name }));
            }
            (imported, _) => imported?,
        };
        match context.with(|ctx| self.call(&ctx, namespace))? {
            Called::Value(value) => Ok(value),
            Called::Promise(promise) => {
                self.settle(&promise)?;
                context.with(|ctx| self.read(&ctx, &result(&ctx, promise)?))
            }
        }
    }

    /// Adds the data of the call to `shop` and imports the entry.
    fn import(&self, ctx: &Ctx<'_>, finish: Finish) -> rquickjs::Result<Held> {
        raw::begin_stack(ctx);
        let globals = match &self.request.globals {
            globals @ Value::Map(_) => convert::to_script(ctx, globals)?,
            _ => Object::new(ctx.clone())?.into_value(),
        };
        finish.restore(ctx)?.call::<_, ()>((globals,))?;
        let promise = Module::import(ctx, self.entry())?;
        Ok(Persistent::save(ctx, promise))
    }

    /// Calls the function of the entry.
    fn call(&self, ctx: &Ctx<'_>, namespace: Held) -> Result<Called, Not> {
        let thrown = |error: Error| thrown(ctx, &error);
        let namespace = result(ctx, namespace)?;
        let namespace = namespace.as_object().ok_or_else(|| thrown(Error::Unknown))?;
        let name = self.request.function.as_str();
        let found: rquickjs::Value = namespace.get(name).map_err(thrown)?;
        let Some(function) = found.as_function() else {
            let function = name.to_owned();
            return Err(Not::Failed(CallError::NoFunction { unit: self.entry().to_owned(), function }));
        };
        let value = self.apply(ctx, function).map_err(thrown)?;
        match value.as_promise() {
            Some(promise) => Ok(Called::Promise(Persistent::save(ctx, promise.clone()))),
            None => self.read(ctx, &value).map(Called::Value),
        }
    }

    fn apply<'js>(&self, ctx: &Ctx<'js>, function: &Function<'js>) -> rquickjs::Result<rquickjs::Value<'js>> {
        let mut args = Args::new(ctx.clone(), self.request.args.len());
        for arg in &self.request.args {
            args.push_arg(convert::to_script(ctx, arg)?)?;
        }
        function.call_arg(args)
    }

    /// Runs what is waiting to run until the promise is settled.
    fn settle(&self, promise: &Held) -> Result<(), Not> {
        let (runtime, context) = (self.runtime, self.context);
        let pending = || {
            context.with(|ctx| {
                let promise = promise.clone().restore(&ctx).map_err(|error| thrown(&ctx, &error))?;
                Ok::<_, Not>(promise.state() == rquickjs::promise::PromiseState::Pending)
            })
        };
        // A script that was stopped still says where, mostly a few steps later.
        let mut last_words = LAST_WORDS;
        while pending()? {
            let ran = runtime.execute_pending_job();
            if self.budget.is_spent() {
                if let Err(job) = ran {
                    return Err(Not::Thrown(job.0.with(|ctx| failure::caught(&ctx, &Error::Exception))));
                }
                last_words -= 1;
                if last_words == 0 {
                    return Err(Not::Thrown(Caught::default()));
                }
            }
            if matches!(ran, Ok(false)) {
                let (unit, function) = (self.entry().to_owned(), self.request.function.clone());
                return Err(Not::Failed(CallError::NeverSettles { unit, function }));
            }
        }
        Ok(())
    }

    /// Reads what the function returned.
    fn read<'js>(&self, ctx: &Ctx<'js>, value: &rquickjs::Value<'js>) -> Result<Value, Not> {
        FromScript::new(ctx, self.budget.output).value(value).map_err(|error| match error {
            NoData::TooMuch => {
                let place = Box::new(Place { unit: self.entry().to_owned(), ..Place::default() });
                Not::Failed(CallError::Limit { place, which: Limit::Output, chain: Vec::new() })
            }
            NoData::NotPlain(text) => {
                let (unit, function) = (self.entry().to_owned(), self.request.function.clone());
                Not::Failed(CallError::NoData { unit, function, text })
            }
            NoData::Threw => thrown(ctx, &Error::Exception),
        })
    }
}

/// What the function gave.
enum Called {
    Value(Value),
    Promise(Held),
}

/// The value of a promise that is settled.
fn result<'js>(ctx: &Ctx<'js>, promise: Held) -> Result<rquickjs::Value<'js>, Not> {
    let settled = promise.restore(ctx).and_then(|promise| promise.result().unwrap_or(Err(Error::WouldBlock)));
    settled.map_err(|error| thrown(ctx, &error))
}

fn thrown(ctx: &Ctx<'_>, error: &Error) -> Not {
    Not::Thrown(failure::caught(ctx, error))
}
