//! `check`: walks the sign-in step by step.

use anyhow::Result;
use home::Home;

use crate::exit::Exit;
use crate::{cli, log, output};

/// Prints every step; refused when one of them failed.
pub(super) fn run(arguments: cli::Check) -> Result<Exit> {
    log::start("warn");
    let store = arguments.store.map(std::path::absolute).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let steps = runtime.block_on(mcp::check(&Home::find()?, store.as_deref()));
    let green = output::colours();
    for step in &steps {
        let mark = match (step.ok, green) {
            (true, true) => "\u{1b}[32mok\u{1b}[0m",
            (true, false) => "ok",
            (false, true) => "\u{1b}[31mno\u{1b}[0m",
            (false, false) => "no",
        };
        output::line(&format!("{mark}  {}: {}", step.name, step.said.replace('\n', "\n    ")));
    }
    Ok(if steps.iter().all(|step| step.ok) { Exit::Done } else { Exit::Refused })
}
