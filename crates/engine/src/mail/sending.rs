//! Sending: to the mail server that the settings name, else into a folder of the store.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use db::outbox::Mail;
use lettre::message::Message;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{SmtpTransport, Transport as _};

use crate::new_file::private_new;
use crate::settings::mail::{MailServer, Security};

/// Folder of mails that no server takes, from the root.
pub(crate) const FOLDER: &str = "core/mail";
/// How long the server may take for each step.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a mail was not sent.
#[derive(Debug)]
pub(crate) struct NotSent {
    /// In words, without secrets.
    pub(crate) why: String,
    /// The server says that it will never take it.
    pub(crate) is_final: bool,
}

impl NotSent {
    /// What may go right the next time.
    pub(crate) fn for_now(why: String) -> Self {
        Self { why, is_final: false }
    }
}

/// A line to a mail server, for a few mails.
pub(crate) struct Sending<'a> {
    root: &'a Path,
    server: Option<(SmtpTransport, &'a MailServer)>,
}

impl<'a> Sending<'a> {
    /// To the server of the settings; no line is opened yet.
    pub(crate) fn new(root: &'a Path, server: Option<&'a MailServer>) -> Result<Self, NotSent> {
        let server = server.map(|server| Ok((transport(server)?, server))).transpose()?;
        Ok(Self { root, server })
    }

    /// Sends one letter.
    pub(crate) fn send(&self, mail: &Mail, letter: &Message) -> Result<(), NotSent> {
        let Some((transport, server)) = &self.server else {
            return keep(self.root, mail, letter).map_err(|error| NotSent::for_now(error.to_string()));
        };
        match transport.send(letter) {
            Ok(_) => Ok(()),
            Err(error) => Err(not_sent(&error, server)),
        }
    }
}

fn transport(server: &MailServer) -> Result<SmtpTransport, NotSent> {
    let tls =
        || TlsParameters::new(server.host.clone()).map_err(|error| NotSent::for_now(format!("TLS: {error}")));
    let mut builder = SmtpTransport::builder_dangerous(&server.host)
        .port(server.port)
        .timeout(Some(PATIENCE))
        .hello_name(ClientId::Domain(server.sender.address.domain().to_owned()))
        .tls(match server.security {
            Security::None => Tls::None,
            Security::Starttls => Tls::Required(tls()?),
            Security::Tls => Tls::Wrapper(tls()?),
        });
    if let Some((login, password)) = &server.login {
        builder = builder.credentials(Credentials::new(login.clone(), password.as_str().to_owned()));
    }
    Ok(builder.build())
}

fn not_sent(error: &lettre::transport::smtp::Error, server: &MailServer) -> NotSent {
    let mut why = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        if !why.contains(&cause_words) {
            why = format!("{why}: {cause_words}");
        }
        next = cause.source();
    }
    if let Some((_, password)) = &server.login {
        why = why.replace(password.as_str(), "[secret]");
    }
    // What is wrong with the login, or with the server itself, is not the mail's fault, and the owner can mend it.
    let status = error.status().map(u16::from).unwrap_or_default();
    let is_of_the_mail = matches!(status, 550..=553 | 555..=559);
    NotSent { why: wire::text::quoted(&why, 300), is_final: error.is_permanent() && is_of_the_mail }
}

/// Lays the letter down as a file, whole or not at all. The same mail has the same file.
fn keep(root: &Path, mail: &Mail, letter: &Message) -> io::Result<()> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder)?;
    // A link would lead what people are told out of the store.
    if !folder.canonicalize()?.starts_with(root.canonicalize()?) {
        return Err(io::Error::other(format!("{FOLDER} leads out of the store")));
    }
    let name = format!("{:08}-{}", mail.id, mail.template);
    let fresh = folder.join(format!("{name}.{}.new", mail.attempts));
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private_new(&fresh)?;
    file.write_all(&letter.formatted())?;
    file.sync_all()?;
    fs::rename(fresh, folder.join(format!("{name}.eml")))
}
