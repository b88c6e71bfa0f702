//! The line to PostgreSQL kept secret: a front with certificates of its own before the server of the tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use db::agent_sql::{Limits, select};
use db::signal::Signal;
use db::{Db, DbError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::config::Host;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::fixture::Fixture;

/// What a client sends that wants a secret line.
const ASKS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A front that keeps lines secret before the server of the tests, which does not.
struct Front {
    place: Fixture,
    port: u16,
    /// The certificate of who gave the front its own.
    root_cert: PathBuf,
    /// Secret lines that were opened.
    lines: Arc<AtomicUsize>,
    _runtime: tokio::runtime::Runtime,
}

impl Front {
    /// Its certificate is for this name.
    fn start(name: &str) -> Option<Self> {
        let place = Fixture::postgres()?;
        let config: tokio_postgres::Config = place.url.parse().unwrap();
        let Some(Host::Tcp(host)) = config.get_hosts().first() else {
            println!("TEST_DATABASE_URL names no host: no front before it");
            return None;
        };
        let server = format!("{host}:{}", config.get_ports().first().unwrap_or(&5432));
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let root_cert = place.root().join("root.pem");
        std::fs::write(&root_cert, authority.pem()).unwrap();
        let tls = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let lines = Arc::new(AtomicUsize::new(0));
        runtime.spawn(serve(listener, TlsAcceptor::from(Arc::new(tls)), server, Arc::clone(&lines)));
        Some(Self { place, port, root_cert, lines, _runtime: runtime })
    }

    /// The store's address through the front, with more parameters.
    fn db(&self, host: &str, parameters: &str) -> Result<Db, DbError> {
        let config: tokio_postgres::Config = self.place.url.parse().unwrap();
        let (_, query) = self.place.url.split_once('?').unwrap();
        let user = config.get_user().unwrap_or("postgres");
        let password = config.get_password().map(|word| String::from_utf8_lossy(word).into_owned());
        let password = password.map(|word| format!(":{word}")).unwrap_or_default();
        let name = config.get_dbname().unwrap_or(user);
        let url = format!("postgres://{user}{password}@{host}:{}/{name}?{query}&{parameters}", self.port);
        Db::open(&url, self.place.root())
    }

    fn root_cert(&self) -> String {
        format!("sslrootcert={}", self.root_cert.display().to_string().replace('/', "%2F"))
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, server: String, lines: Arc<AtomicUsize>) {
    while let Ok((mut client, _)) = listener.accept().await {
        let (tls, server, lines) = (tls.clone(), server.clone(), Arc::clone(&lines));
        tokio::spawn(async move {
            let mut first = [0; 8];
            client.read_exact(&mut first).await?;
            let mut to = TcpStream::connect(server).await?;
            if first != ASKS {
                to.write_all(&first).await?;
                return copy_bidirectional(&mut client, &mut to).await;
            }
            client.write_all(b"S").await?;
            let mut secret = tls.accept(client).await?;
            lines.fetch_add(1, Ordering::Relaxed);
            copy_bidirectional(&mut secret, &mut to).await
        });
    }
}

fn is_refused(db: &Db) -> bool {
    matches!(db.read::<_, DbError>(|tx| tx.rows("select 1 as one", &[])), Err(DbError::Unreachable(_)))
}

#[test]
fn everything_goes_over_a_secret_line() {
    let Some(front) = Front::start("localhost") else { return };
    let db = front.db("localhost", &format!("sslmode=verify-full&{}", front.root_cert())).unwrap();
    db.migrate().unwrap();
    let mut signals = db.listen().unwrap();
    db.signal("c", "p").unwrap();
    assert_eq!(signals.wait(), Some(Signal::Said { channel: "c".into(), payload: "p".into() }));
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    select(&db, "select count(*) as count from users", &[], &limits).unwrap();
    // One that is stopped from outside: the wish to stop goes over a secret line too.
    let slow = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) as c from t";
    assert!(select(&db, slow, &[], &limits).is_err());
    select(&db, "select count(*) as count from users", &[], &limits).unwrap();
    assert!(front.lines.load(Ordering::Relaxed) >= 4, "statements, signals, agents' statements, stopping");
}

#[test]
fn a_server_must_prove_who_it_is_as_far_as_the_address_wants() {
    let Some(front) = Front::start("db.example.com") else { return };
    let root_cert = front.root_cert();
    for (parameters, passes) in [
        ("sslmode=require".to_owned(), true),
        ("sslmode=prefer".to_owned(), true),
        (format!("sslmode=verify-ca&{root_cert}"), true),
        // A certificate is looked at where one is named.
        (format!("sslmode=require&{root_cert}"), true),
        (format!("sslmode=verify-full&{root_cert}"), false),
        ("sslmode=verify-ca".to_owned(), false),
        ("sslmode=verify-full".to_owned(), false),
        ("sslmode=require&sslrootcert=other.pem".to_owned(), false),
    ] {
        let authority = CertifiedIssuer::self_signed(
            CertificateParams::new(vec!["other".to_owned()]).unwrap(),
            KeyPair::generate().unwrap(),
        );
        std::fs::write(front.place.root().join("other.pem"), authority.unwrap().pem()).unwrap();
        // A machine without any certificate of its own says so at once.
        let refused = front.db("127.0.0.1", &parameters).map_or(true, |db| is_refused(&db));
        assert_eq!(!refused, passes, "{parameters}");
    }
}

#[test]
fn plain_lines_are_made_only_where_they_are_wanted() {
    let Some(front) = Front::start("localhost") else { return };
    for parameters in ["sslmode=disable", "application_name=shopwright"] {
        let db = front.db("127.0.0.1", parameters).unwrap();
        db.read::<_, DbError>(|tx| tx.rows("select 1 as one", &[])).unwrap();
        assert_eq!(front.lines.load(Ordering::Relaxed), 0, "{parameters}");
    }
    // A server that keeps nothing secret.
    let plain = Db::open(&format!("{}&sslmode=require", front.place.url), front.place.root()).unwrap();
    assert!(is_refused(&plain));
}
