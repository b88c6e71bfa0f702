//! Tests of the running program: a real home and console, an engine played over real HTTP.

mod attacks;
mod console;
mod engine;
mod ini;
mod licence;
mod life;
mod overview;
mod turns;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use home::passwords;
use home::{Credentials, Home, Keyring, Pair, ShopIni, StoreEntry};
use reqwest::{Client, Response, header, redirect};
use tempfile::TempDir;
use zeroize::Zeroizing;

use crate::{Desk, Options, RunningDesk};
use engine::Engine;

/// A home with one store, `tea`, and its engine.
struct World {
    folder: TempDir,
    engine: Engine,
}

impl World {
    async fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), engine: Engine::start().await };
        let url = world.engine.url();
        world.add("tea", "Tea & <Leaf>", &url);
        world
    }

    fn home(&self) -> Home {
        Home::at(self.folder.path().join("home")).with_keyring(Keyring::File)
    }

    fn store(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Makes a store folder and puts it into the list, as the one opened last.
    fn add(&self, folder: &str, name: &str, url: &str) {
        let path = self.store(folder);
        std::fs::create_dir_all(&path).unwrap();
        let ini = ShopIni { login: "irina".to_owned(), ..ShopIni::new(name, url) };
        ini.write(&path).unwrap();
        let mut list = self.home().stores().unwrap();
        list.put(StoreEntry { name: name.to_owned(), folder: path.clone() });
        list.last = Some(path);
        self.home().save_stores(&list).unwrap();
    }

    /// irina at this store's engine.
    fn account(&self) -> passwords::Account {
        passwords::Account::new(&self.store("tea"), "irina", &self.engine.url())
    }

    fn save_password(&self, password: &str) {
        passwords::save(&self.home(), &self.account(), password).unwrap();
    }

    fn saved_password(&self) -> Option<String> {
        let saved = passwords::saved(&self.home(), &self.account()).unwrap();
        saved.map(|password| password.as_str().to_owned())
    }

    async fn desk(&self) -> RunningDesk {
        Desk::start(self.home(), options()).await.unwrap()
    }

    /// Starts the program with irina signed in.
    async fn desk_signed_in(&self) -> RunningDesk {
        Desk::start(self.home(), Options { credentials: Some(pair()), ..options() }).await.unwrap()
    }
}

/// The pair as an MCP server asks for it: for the address that it reads in `Shop.ini`.
async fn ask_pair(home: &Home, store: &Path) -> Pair {
    let url = ShopIni::read(store).map(|ini| ini.url).unwrap_or_default();
    home::ask_pair(home, store, &url).await
}

fn options() -> Options {
    Options { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), open_store: None, credentials: None }
}

fn pair() -> Credentials {
    Credentials { login: "irina".to_owned(), password: Zeroizing::new("green leaf".to_owned()) }
}

/// A browser: keeps the cookie, follows no redirects, reads the forms' word.
struct Browser {
    client: Client,
    base: String,
    cookie: String,
    csrf: String,
    language: &'static str,
}

/// What a page said.
struct Page {
    status: u16,
    goes_to: Option<String>,
    text: String,
}

impl Browser {
    /// Opens the console by its start address.
    async fn open(desk: &RunningDesk) -> Self {
        let mut browser = Self::stranger(desk);
        let response = browser.client.get(desk.console_url()).send().await.unwrap();
        let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().clone_into(&mut browser.cookie);
        browser.csrf = browser.get("/stores").await.csrf();
        browser
    }

    /// A browser that has no cookie.
    fn stranger(desk: &RunningDesk) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        let base = format!("http://{}", desk.address());
        Self { client, base, cookie: String::new(), csrf: String::new(), language: "en" }
    }

    async fn get(&self, path: &str) -> Page {
        let request = self.client.get(format!("{}{path}", self.base)).header(header::COOKIE, &self.cookie);
        read(request.header(header::ACCEPT_LANGUAGE, self.language).send().await.unwrap()).await
    }

    /// Sends a form of ours.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let mut fields = fields.to_vec();
        fields.push(("csrf", &self.csrf));
        let request = self.client.post(format!("{}{path}", self.base)).header(header::COOKIE, &self.cookie);
        let request =
            request.header(header::ORIGIN, &self.base).header(header::ACCEPT_LANGUAGE, self.language);
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        read(request.body(encoded(&fields)).send().await.unwrap()).await
    }
}

async fn read(response: Response) -> Page {
    let status = response.status().as_u16();
    let goes_to = response.headers().get(header::LOCATION).map(|value| value.to_str().unwrap().to_owned());
    Page { status, goes_to, text: response.text().await.unwrap() }
}

impl Page {
    fn csrf(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    #[track_caller]
    fn leads_to(&self, place: &str) {
        assert_eq!((self.status, self.goes_to.as_deref()), (303, Some(place)), "{}", self.text);
    }

    #[track_caller]
    fn says(&self, words: &str) {
        assert!(self.text.contains(words), "{words:?} is not said, {}:\n{}", self.status, self.text);
    }

    #[track_caller]
    fn keeps_quiet(&self, words: &str) {
        assert!(!self.text.contains(words), "{words:?} is said:\n{}", self.text);
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let escape = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    fields.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect::<Vec<_>>().join("&")
}
