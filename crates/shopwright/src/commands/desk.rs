//! `desk`: the program.

use anyhow::{Context, Result};
use home::{Approval, Home};

use crate::exit::Exit;
use crate::{cli, log, output, signal};

/// Runs the program until it is asked to stop.
pub(super) fn run(arguments: cli::Desk) -> Result<Exit> {
    log::start("info");
    let open_store = arguments.store.map(std::path::absolute).transpose()?;
    super::runtime::runtime()?.block_on(async {
        let stop = signal::asked_to_stop()?;
        let home = Home::find()?;
        if let Some(choice) = arguments.approval {
            home.save_approval(approval(choice))?;
        }
        let options = desk::Options { listen: arguments.listen, open_store, credentials: None };
        let desk = desk::Desk::start(home, options)
            .await
            .with_context(|| format!("the program cannot start at {}", arguments.listen))?;
        output::line(&format!("Open {}", desk.console_url()));
        stop.await;
        desk.stop().await;
        Ok(Exit::Done)
    })
}

fn approval(choice: cli::ApprovalChoice) -> Approval {
    match choice {
        cli::ApprovalChoice::Ask => Approval::Ask,
        cli::ApprovalChoice::Approve => Approval::Approve,
    }
}
