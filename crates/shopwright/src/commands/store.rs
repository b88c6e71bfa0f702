//! `store`: what the server's owner does with a store.

use anyhow::Result;
use engine::store::{self, Holder, InitOptions};

use super::{exchange, maintenance, seed, upkeep};
use crate::cli::{StoreAddUser, StoreCommand, StoreInit, StoreLogin, StoreRight, Whose};
use crate::exit::Exit;
use crate::{log, output, password_prompt, store_files, store_tools};

/// Carries out one of the store's commands.
pub(super) fn run(command: StoreCommand) -> Result<Exit> {
    log::start("warn");
    match command {
        StoreCommand::Init(arguments) => init(&arguments)?,
        StoreCommand::AddUser(who) => add_user(&who)?,
        StoreCommand::Passwd(who) => passwd(&who)?,
        StoreCommand::Lock(arguments) => {
            store::lock(&arguments.root)?;
            output::note("The store is closed for works.");
        }
        StoreCommand::Unlock(arguments) => maintenance::unlock(&arguments)?,
        StoreCommand::Migrate(arguments) => maintenance::migrate(&arguments)?,
        StoreCommand::Backup(arguments) => maintenance::backup(&arguments)?,
        StoreCommand::Restore(arguments) => maintenance::restore(&arguments)?,
        StoreCommand::Seed(arguments) => seed::run(&arguments)?,
        StoreCommand::Reindex(arguments) => upkeep::reindex(&arguments)?,
        StoreCommand::Import(arguments) => return exchange::import(&arguments),
        StoreCommand::Export(arguments) => exchange::export(&arguments)?,
        StoreCommand::CheckBooks(arguments) => return upkeep::check_books(&arguments),
        StoreCommand::Block(who) => block(&who, true)?,
        StoreCommand::Unblock(who) => block(&who, false)?,
        StoreCommand::Grant(right) => grant(&right)?,
        StoreCommand::Revoke(right) => revoke(&right)?,
    }
    Ok(Exit::Done)
}

fn init(arguments: &StoreInit) -> Result<()> {
    let admin_password = password_prompt::ask_new(&format!("`{}`", arguments.admin_login))?;
    store::init(
        &arguments.root,
        &InitOptions {
            name: arguments.name.clone(),
            url: arguments.url.clone(),
            listen: arguments.listen,
            language: arguments.language.code().to_owned(),
            time_zone: arguments.time_zone.clone(),
            currency: arguments.currency.clone(),
            database: arguments.database.clone(),
            admin_login: arguments.admin_login.clone(),
            admin_name: arguments.admin_name.clone(),
            admin_password,
        },
    )?;
    store_files::lay(&arguments.root)?;
    let language = arguments.language.code();
    store::open_db(&arguments.root)?.write(|tx| store_tools::lay(tx, language))?;
    output::note(&format!(
        "The store is made. `shopwright serve --root {}` runs it.",
        arguments.root.display()
    ));
    Ok(())
}

fn add_user(who: &StoreAddUser) -> Result<()> {
    let password = password_prompt::ask_new(&format!("`{}`", who.login))?;
    store::add_user(&who.root, &who.login, &who.name, who.group.as_deref(), &password)?;
    output::note(&format!("`{}` may sign in. `shopwright store grant` gives rights.", who.login));
    Ok(())
}

fn passwd(who: &StoreLogin) -> Result<()> {
    let password = password_prompt::ask_new(&format!("`{}`", who.login))?;
    store::set_password(&who.root, &who.login, &password)?;
    output::note(&format!("`{}` has a new password; their open sessions end.", who.login));
    Ok(())
}

fn block(who: &StoreLogin, blocked: bool) -> Result<()> {
    store::set_blocked(&who.root, &who.login, blocked)?;
    let state = if blocked { "is blocked" } else { "may work again" };
    output::note(&format!("`{}` {state}.", who.login));
    Ok(())
}

fn holder(whose: &Whose) -> Holder {
    match (&whose.login, &whose.group) {
        (Some(login), _) => Holder::Login(login.clone()),
        (None, group) => Holder::Group(group.clone().unwrap_or_default()),
    }
}

fn grant(right: &StoreRight) -> Result<()> {
    store::grant(&right.root, &holder(&right.whose), &right.command)?;
    output::note(&format!("{} is granted; it shows after signing in again.", right.command));
    Ok(())
}

fn revoke(right: &StoreRight) -> Result<()> {
    if store::revoke(&right.root, &holder(&right.whose), &right.command)? {
        output::note(&format!("{} is withdrawn; it works at once.", right.command));
    } else {
        output::note(&format!("{} was not granted here; nothing was changed.", right.command));
    }
    Ok(())
}
