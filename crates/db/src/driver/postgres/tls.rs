//! The line to the server: plain to this computer, and kept secret to any other unless the address says otherwise.
//!
//! `sslmode` and `sslrootcert` in the address mean what they mean to PostgreSQL's
//! own clients. Without `sslmode` a server on another computer must prove by its
//! certificate who it is: what goes over this line is the whole store.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::DbError;

/// How far the server is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Plain.
    Disable,
    /// Secret if the server can, with whomever.
    Prefer,
    /// Secret, with whomever.
    Require,
    /// Secret, with a server that somebody we trust gave a certificate.
    VerifyCa,
    /// Secret, with the server of this name.
    VerifyFull,
}

impl Mode {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }
}

/// Reads a server's address and makes what keeps the line to it secret.
pub(super) fn open(url: &str, root: &Path) -> Result<(Config, MakeRustlsConnect), DbError> {
    super::address::check_login(url)?;
    let Address { url, mode, root_cert } = split(url)?;
    // The parser's own words may repeat the address, and so a password.
    let mut config: Config = url.parse().map_err(|_| DbError::Address)?;
    let usual = if is_here(&config) { Mode::Disable } else { Mode::VerifyFull };
    let mode = match (mode.unwrap_or(usual), &root_cert) {
        // As PostgreSQL's own clients take it: who names a certificate wants it looked at.
        (Mode::Require, Some(_)) => Mode::VerifyCa,
        (mode, _) => mode,
    };
    config.ssl_mode(match mode {
        Mode::Disable => SslMode::Disable,
        Mode::Prefer => SslMode::Prefer,
        Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
    });
    if !names_target(&url) {
        // After a fail-over the old server may come back as a standby, under the same address.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    let client = client(mode, root_cert.as_deref().map(|file| root.join(file)).as_deref())?;
    Ok((config, MakeRustlsConnect::new(client)))
}

/// Whether the address itself says which kind of server it wants.
fn names_target(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| pair.starts_with("target_session_attrs="))
}

/// An address without the parameters that are ours to understand.
struct Address {
    url: String,
    mode: Option<Mode>,
    /// `None` also stands for the system's own.
    root_cert: Option<String>,
}

fn split(url: &str) -> Result<Address, DbError> {
    let (start, query) = url.split_once('?').unwrap_or((url, ""));
    let mut address = Address { url: start.to_owned(), mode: None, root_cert: None };
    let mut mark = '?';
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", word)) => {
                let known =
                    "wanted `disable`, `prefer`, `require`, `verify-ca` or `verify-full` for `sslmode`";
                address.mode = Some(Mode::of(word).ok_or_else(|| DbError::Tls(known.to_owned()))?);
            }
            Some(("sslrootcert", "system")) => address.root_cert = None,
            Some(("sslrootcert", file)) => address.root_cert = Some(unescaped(file)?),
            _ => {
                address.url.push(mark);
                address.url.push_str(pair);
                mark = '&';
            }
        }
    }
    Ok(address)
}

fn unescaped(text: &str) -> Result<String, DbError> {
    let wrong = || DbError::Tls("`sslrootcert` is not written as addresses are".to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()].into_iter().flatten().map(char::from).collect::<String>();
        bytes.push(u8::from_str_radix(&digits, 16).map_err(|_| wrong())?);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Whether the line does not leave this computer.
fn is_here(config: &Config) -> bool {
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn client(mode: Mode, root_cert: Option<&Path>) -> Result<ClientConfig, DbError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match mode {
        Mode::Disable | Mode::Prefer | Mode::Require => Arc::new(Lenient::anybody(&provider)),
        Mode::VerifyCa | Mode::VerifyFull => {
            let trusted = Arc::new(trusted(root_cert)?);
            let strict = WebPkiServerVerifier::builder_with_provider(trusted, Arc::clone(&provider));
            let strict = strict.build().map_err(|cause| DbError::Tls(cause.to_string()))?;
            if mode == Mode::VerifyFull { strict } else { Arc::new(Lenient::of_any_name(strict, &provider)) }
        }
    };
    let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let client = client.map_err(|cause| DbError::Tls(cause.to_string()))?;
    let client = client.dangerous().with_custom_certificate_verifier(verifier);
    Ok(client.with_no_client_auth())
}

/// Whom we believe: the file's certificates, or the system's.
fn trusted(file: Option<&Path>) -> Result<RootCertStore, DbError> {
    let mut store = RootCertStore::empty();
    if let Some(file) = file {
        let name = file.display();
        let unread = |cause: &dyn std::fmt::Display| DbError::Tls(format!("`sslrootcert` ({name}): {cause}"));
        let found = CertificateDer::pem_file_iter(file).map_err(|cause| unread(&cause))?;
        for certificate in found {
            let certificate = certificate.map_err(|cause| unread(&cause))?;
            store.add(certificate).map_err(|cause| unread(&cause))?;
        }
    } else {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if store.is_empty() {
        return Err(DbError::Tls("no certificate to trust; name a file by `sslrootcert`".to_owned()));
    }
    Ok(store)
}

/// Believes more of a server than its name says: any certificate, or one that somebody we trust gave for another name.
#[derive(Debug)]
struct Lenient {
    /// Looks at the certificate; without it the line is secret, but nobody knows with whom.
    strict: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Lenient {
    fn anybody(provider: &Arc<CryptoProvider>) -> Self {
        Self { strict: None, provider: Arc::clone(provider) }
    }

    fn of_any_name(strict: Arc<WebPkiServerVerifier>, provider: &Arc<CryptoProvider>) -> Self {
        Self { strict: Some(strict), provider: Arc::clone(provider) }
    }
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(strict) = &self.strict else { return Ok(ServerCertVerified::assertion()) };
        // The name is the last thing that is looked at.
        match strict.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(url: &str) -> SslMode {
        open(url, Path::new("/")).unwrap().0.get_ssl_mode()
    }

    #[test]
    fn only_a_line_within_this_computer_is_plain_by_itself() {
        for url in [
            "postgres://shop@localhost/shop",
            "postgres://shop@127.0.0.1:5432/shop",
            "postgres://shop@[::1]/shop",
            "postgres://shop@%2Frun%2Fpostgresql/shop",
            "postgres://shop@db.example.com/shop?hostaddr=127.0.0.1",
            "postgres://shop@db.example.com/shop?sslmode=disable",
        ] {
            assert_eq!(mode_of(url), SslMode::Disable, "{url}");
        }
        for url in
            ["postgres://shop@db/shop?sslmode=require", "postgres://shop@127.0.0.1/shop?sslmode=require"]
        {
            assert_eq!(mode_of(url), SslMode::Require, "{url}");
        }
        assert_eq!(mode_of("postgres://shop@db/shop?sslmode=prefer"), SslMode::Prefer);
    }

    #[test]
    fn what_is_ours_is_taken_out_and_the_rest_is_left() {
        let address =
            split("postgres://u:p@h/d?options=-csearch_path%3Da&sslmode=verify-ca&sslrootcert=%2Fa%20b&x=1");
        let address = address.unwrap();
        assert_eq!(address.url, "postgres://u:p@h/d?options=-csearch_path%3Da&x=1");
        assert_eq!((address.mode, address.root_cert.as_deref()), (Some(Mode::VerifyCa), Some("/a b")));
        assert_eq!(split("postgres://u@h/d?sslrootcert=system").unwrap().root_cert, None);
        assert_eq!(split("postgres://u@h/d").unwrap().url, "postgres://u@h/d");
    }

    #[test]
    fn what_is_not_understood_is_told_without_the_password() {
        for url in [
            "postgres://u:secret@h/d?sslmode=always",
            "postgres://u:secret@h/d?sslmode=",
            "postgres://u:secret@h/d?sslrootcert=%zz",
            "postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/no/such/file",
        ] {
            let error = open(url, Path::new("/")).err().unwrap();
            assert!(matches!(error, DbError::Tls(_)), "{url}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
