//! One call: a fresh interpreter, the modules handed in, the function, its value.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::Args;
use rquickjs::{Context, Ctx, Error, Function, Module, Persistent, Promise, Runtime};

use super::allocator::Counting;
use super::convert::{self, FromScript, NoData};
use super::engine::Engine;
use super::failure::{self, Caught};
use super::host;
use super::limits::{Budget, STACK, Stop};
use super::resolve::{HandedIn, Missing};
use super::shop::Shop;
use crate::call::{CallError, Limit, Place};
use crate::message::{Fault, FromWorker, Request};
use crate::value::Value;

/// How many jobs still run in a script that was stopped.
const LAST_WORDS: u32 = 16;

/// A promise that outlives one visit to the context.
type Held = Persistent<Promise<'static>>;

/// Carries out a call. An error means that the engine is gone.
pub(super) fn run(engine: &Engine, shop: &Rc<Shop>, request: Request) -> Result<FromWorker, Fault> {
    let budget = Budget::new(request.memory, request.microseconds, request.calls, request.output);
    let run = Run { engine, shop, budget: &budget, request };
    let result = run.outcome();
    match (budget.stopped(), result) {
        (Some(Stop::Line), _) => Err(Fault::Gone),
        (_, Ok(value)) => Ok(FromWorker::Done(value)),
        (_, Err(error)) => Ok(FromWorker::Failed(Box::new(error))),
    }
}

struct Run<'a> {
    engine: &'a Engine,
    shop: &'a Rc<Shop>,
    budget: &'a Rc<Budget>,
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

    fn outcome(&self) -> Result<Value, CallError> {
        let value = self.interpret();
        let stopped = self.budget.stopped().is_some();
        match value {
            Ok(value) if !stopped => Ok(value),
            Err(Not::Failed(error)) if !stopped => Err(error),
            Ok(_) | Err(Not::Failed(_)) => Err(failure::failure(self.budget, self.entry(), None)),
            Err(Not::Thrown(caught)) => Err(failure::failure(self.budget, self.entry(), Some(caught))),
        }
    }

    /// Makes the interpreter and runs everything in it.
    fn interpret(&self) -> Result<Value, Not> {
        let broken = |error: Error| Not::Failed(CallError::WorkerLost { text: error.to_string() });
        let runtime = Runtime::new_with_alloc(Counting(Rc::clone(&self.budget.meter))).map_err(broken)?;
        runtime.set_max_stack_size(STACK);
        let budget = Rc::clone(self.budget);
        runtime.set_interrupt_handler(Some(Box::new(move || budget.is_spent())));
        let modules = Rc::new(self.request.modules.clone());
        let missing = Rc::new(RefCell::new(None));
        let handed_in = HandedIn { modules, missing: Rc::clone(&missing) };
        runtime.set_loader(handed_in.clone(), handed_in);
        let context = Shop::context(&runtime).map_err(broken)?;

        let imported =
            context.with(|ctx| self.import(&ctx).map_err(|error| thrown(&ctx, &error))).and_then(|held| {
                self.settle(&runtime, &context, &held)?;
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
                self.settle(&runtime, &context, &promise)?;
                context.with(|ctx| self.read(&ctx, &result(&ctx, promise)?))
            }
        }
    }

    /// Makes `shop` and imports the entry.
    fn import(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Held> {
        let call = host::function(ctx, self.engine, self.shop, self.budget, run)?;
        self.shop.install(ctx, call, &self.request.globals)?;
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
    fn settle(&self, runtime: &Runtime, context: &Context, promise: &Held) -> Result<(), Not> {
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
