//! `serve`: the engine of one store.

use anyhow::Result;

use crate::exit::Exit;
use crate::{cli, log, output, signal};

/// Runs the engine until it is asked to stop.
pub(super) fn run(arguments: cli::Serve) -> Result<Exit> {
    log::start("info");
    super::runtime::runtime()?.block_on(async {
        let stop = signal::asked_to_stop()?;
        let options = engine::Options {
            listen: arguments.listen,
            allow_open_demo: arguments.allow_open_demo,
            ..engine::Options::default()
        };
        let engine = engine::Engine::start(arguments.root, options).await?;
        output::line(&format!("The engine answers at http://{}", engine.address()));
        stop.await;
        engine.stop().await;
        Ok(Exit::Done)
    })
}
