//! `licensor`: the licence authority.

use std::sync::Arc;

use anyhow::Result;
use engine::licensor;

use crate::cli::{CustomerAdd, LicensorCommand, LicensorServe};
use crate::exit::Exit;
use crate::{log, output, signal};

/// Carries out one of the authority's commands.
pub(super) fn run(command: LicensorCommand) -> Result<Exit> {
    match command {
        LicensorCommand::Keys(arguments) => {
            let key = match licensor::public_key(&arguments.folder) {
                Ok(key) => key,
                // No key yet; where it is something else, making one says what.
                Err(_) => licensor::make_keys(&arguments.folder)?,
            };
            output::line(&key.to_string());
        }
        LicensorCommand::Add(customer) => add(&customer)?,
        LicensorCommand::List(arguments) => {
            for customer in licensor::customers(&arguments.folder)? {
                let logins =
                    if customer.logins.is_empty() { "any".to_owned() } else { customer.logins.join(",") };
                let domains = customer.domains.join(",");
                output::line(&format!("{}\t{domains}\t{logins}\t{}", customer.name, customer.until));
            }
        }
        LicensorCommand::Remove(customer) => {
            licensor::remove(&customer.folder, &customer.name)?;
            output::note(&format!("`{}` gets no more tokens.", customer.name));
        }
        LicensorCommand::Serve(arguments) => return serve(arguments),
    }
    Ok(Exit::Done)
}

fn add(customer: &CustomerAdd) -> Result<()> {
    let made =
        licensor::add(&customer.folder, &customer.name, &customer.domains, &customer.logins, customer.until)?;
    output::note(&format!(
        "`{}` is licensed until {}. The secret for their config.json:",
        made.name, made.until
    ));
    output::line(&made.secret);
    Ok(())
}

fn serve(arguments: LicensorServe) -> Result<Exit> {
    log::start("info");
    super::runtime::runtime()?.block_on(async {
        let stop = signal::asked_to_stop()?;
        let world = Arc::new(engine::SystemClock);
        let authority = licensor::serve(arguments.folder, arguments.listen, world).await?;
        output::line(&format!("The licence authority answers at http://{}", authority.address()));
        stop.await;
        authority.stop().await;
        Ok(Exit::Done)
    })
}
