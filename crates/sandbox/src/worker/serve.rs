//! What a worker does from its start to its end.

use std::os::unix::net::UnixStream;
use std::rc::Rc;

use super::engine::Engine;
use super::run::Runner;
use super::{analyse, compile, shop};
use crate::message::{Fault, FromWorker, ToWorker, VERSION};
use crate::shut_in::ShutIn;

/// Finishes shutting the process in and serves the engine until it is gone.
pub(super) fn serve(socket: UnixStream, shut_in: ShutIn) -> Result<(), Fault> {
    shop::Shop::warm_up();
    give_memory_back();
    let protection = shut_in.finish(&socket);
    let engine = Engine::new(socket);
    engine.tell(&FromWorker::Hello { version: VERSION, protection })?;
    let shop = match engine.hear()? {
        ToWorker::Setup(setup) => shop::Shop::new(&setup),
        _ => return Err(Fault::Gone),
    };
    let shop = match shop {
        Ok(shop) => shop,
        Err(error) => return engine.tell(&FromWorker::Ready(Err(error))),
    };
    engine.tell(&FromWorker::Ready(Ok(())))?;
    let runner = Runner::new(engine.clone(), shop);
    loop {
        runner.prepare();
        match engine.hear() {
            Ok(message) => answer(&engine, &runner, message)?,
            Err(Fault::Gone) => return Ok(()),
            Err(fault) => return Err(fault),
        }
    }
}

/// Takes much memory and gives it back: the C library reads a file of the system before it does so the
/// first time in a thread.
fn give_memory_back() {
    let blocks: Vec<Vec<u8>> = (0..512).map(|_| Vec::with_capacity(64 << 10)).collect();
    drop(std::hint::black_box(blocks));
}

/// Does what the engine wants.
fn answer(engine: &Engine, runner: &Rc<Runner>, message: ToWorker) -> Result<(), Fault> {
    let answer = match message {
        ToWorker::Call(request) => runner.run(*request)?,
        ToWorker::Compile { name, source } => match compile::compile(&name, &source) {
            Ok(module) => FromWorker::Compiled {
                bytecode: module.bytecode,
                exports: analyse::exports(&source),
                imports: module.imports,
            },
            Err(error) => FromWorker::Syntax(error),
        },
        // First the compiler, whose recursion has an end: the parser of the analysis has none.
        ToWorker::Analyse { name, source } => match compile::compile(&name, &source) {
            Ok(_) => FromWorker::Analysis(Box::new(analyse::analyse(&source))),
            Err(error) => FromWorker::Syntax(error),
        },
        #[cfg(feature = "evil")]
        ToWorker::Evil(what) => FromWorker::Done(super::evil::evil(&what)),
        ToWorker::Setup(_) | ToWorker::Answer(_) | ToWorker::Refuse(_) => return Err(Fault::Gone),
    };
    engine.tell(&answer)
}
