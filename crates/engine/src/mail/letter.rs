//! A mail of the outbox as the letter that goes over the wire.

use std::time::{Duration, SystemTime};

use db::outbox::Mail;
use lettre::Message;
use lettre::message::{Mailbox, MultiPart, SinglePart};
use serde_json::json;

use super::Address;
use super::templates::{MailTemplates, one_line};
use crate::settings::Settings;
use crate::units::Tree;
use crate::units::visit::Visit;

/// The letter, or why there is none.
pub(crate) fn compose(tree: &Tree, settings: &Settings, mail: &Mail) -> Result<Message, String> {
    let to = Address::parse(&mail.address).ok_or("the address is none")?;
    let look = Visit::look(settings, language(settings, &mail.language));
    let config = &settings.config;
    let shop = json!({"name": config.name, "url": config.url.trim_end_matches('/')});
    let rendered = MailTemplates::new(tree.clone(), &look, &mail.template).render(&shop, &mail.data)?;
    let sender = settings.mail.sender();
    let wrong = |error: lettre::error::Error| error.to_string();
    let written = Duration::from_secs(mail.created.as_second().try_into().unwrap_or(0));
    let builder = Message::builder()
        .from(mailbox(Some(one_line(&sender.name)), &sender.address)?)
        .to(mailbox(None, &to)?)
        .subject(rendered.subject)
        .date(SystemTime::UNIX_EPOCH + written)
        .message_id(Some(message_id(mail, sender.address.domain())));
    match rendered.html {
        Some(html) => builder.multipart(MultiPart::alternative_plain_html(rendered.text, html)),
        None => builder.singlepart(SinglePart::plain(rendered.text)),
    }
    .map_err(wrong)
}

/// The mail's language where the store has pages in it, else the store's.
fn language<'a>(settings: &'a Settings, wanted: &'a str) -> &'a str {
    let config = &settings.config;
    match config.languages.iter().any(|known| known == wanted) {
        true => wanted,
        false => &config.language,
    }
}

fn mailbox(name: Option<String>, address: &Address) -> Result<Mailbox, String> {
    let name = name.filter(|name| !name.is_empty());
    let address = lettre::Address::new(address.name(), address.domain());
    Ok(Mailbox::new(name, address.map_err(|error| error.to_string())?))
}

/// The same whenever the mail is tried, so that whoever gets it twice can tell.
fn message_id(mail: &Mail, domain: &str) -> String {
    let hash = blake3::hash(format!("{} {}", mail.id, mail.key).as_bytes()).to_hex();
    format!("<{}.{}@{domain}>", mail.id, hash.get(..24).unwrap_or_default())
}
