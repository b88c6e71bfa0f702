//! Starting, stopping, and what the program leaves behind.

use std::net::SocketAddr;

use home::{Home, Pair, Program, ShopIni, program_state};
use wire::{Request, catalogue};

use super::engine::Mood;
use super::{Browser, World, ask_pair, options, pair};
use crate::{Desk, DeskError, Options};

#[tokio::test]
async fn with_a_saved_password_it_signs_in_by_itself() {
    let world = World::new().await;
    world.save_password("green leaf");
    let desk = world.desk().await;
    assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::Given(pair()));
    Browser::open(&desk).await.get("/").await.says("Irina");
    let ini = ShopIni::read(&world.store("tea")).unwrap();
    assert_eq!((ini.login.as_str(), ini.build.as_str()), ("irina", wire::BUILD));
    assert_eq!(world.engine.commands(), [Request::PROGRAM_SIGN_IN, Request::PROGRAM_HOME]);
}

#[tokio::test]
async fn a_saved_password_that_became_wrong_is_let_go() {
    let world = World::new().await;
    world.save_password("old leaf");
    let desk = world.desk().await;
    assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::SignedOut);
    Browser::open(&desk).await.get("/sign-in").await.says("Login or password is wrong");
}

#[tokio::test]
async fn while_the_engine_is_away_a_saved_pair_is_handed_over_all_the_same() {
    let world = World::new().await;
    world.save_password("green leaf");
    world.engine.set(|inner| inner.mood = Mood::Refuses(catalogue::shop_is_lock()));
    let desk = world.desk().await;
    assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::Given(pair()));
    let browser = Browser::open(&desk).await;
    browser.get("/").await.says("closed for works");
    world.engine.set(|inner| inner.mood = Mood::Fair);
    browser.post("/again", &[]).await.leads_to("/");
    let page = browser.get("/").await;
    page.says("Irina");
    page.keeps_quiet("closed for works");
}

#[tokio::test]
async fn it_stops_without_a_trace() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let home = world.home();
    let address = desk.address();
    desk.stop().await;
    assert!(!home.path().join("desk.json").exists());
    assert!(!home.path().join("desk.sock").exists());
    assert_eq!(program_state(&home, &world.store("tea")).await, Program::Closed);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    // The home is free again, and the pair was kept in memory only.
    let desk = world.desk().await;
    assert_eq!(ask_pair(&home, &world.store("tea")).await, Pair::SignedOut);
    drop(desk);
    assert!(!home.path().join("desk.json").exists());
}

#[tokio::test]
async fn a_second_program_names_the_first() {
    let world = World::new().await;
    let desk = world.desk().await;
    let error = Desk::start(world.home(), options()).await.unwrap_err().to_string();
    assert!(error.contains("already runs") && error.contains(&desk.address().to_string()), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

#[tokio::test]
async fn the_console_is_for_this_computer_only() {
    let world = World::new().await;
    let listen = SocketAddr::from(([0, 0, 0, 0], 0));
    let error = Desk::start(world.home(), Options { listen, ..options() }).await.unwrap_err();
    assert!(matches!(error, DeskError::NotLoopback(_)), "{error}");
}

#[tokio::test]
async fn a_taken_port_is_said_and_the_home_is_free_again() {
    let world = World::new().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let error = Desk::start(world.home(), Options { listen, ..options() }).await.unwrap_err();
    assert!(matches!(error, DeskError::Listen { .. }), "{error}");
    world.desk().await;
}

#[tokio::test]
async fn the_named_store_is_opened_even_if_the_list_lacks_it() {
    let world = World::new().await;
    let other = world.store("other");
    std::fs::create_dir(&other).unwrap();
    let named = Options { open_store: Some(other.clone()), ..options() };
    let error = Desk::start(world.home(), named.clone()).await.unwrap_err();
    assert!(matches!(error, DeskError::NoStore { .. }), "{error}");
    ShopIni::new("Other", &world.engine.url()).write(&other).unwrap();
    let _desk = Desk::start(world.home(), named).await.unwrap();
    assert_eq!(program_state(&world.home(), &other).await, Program::Running { signed_in: false });
    assert!(world.home().stores().unwrap().find(&other).is_some());
}

#[tokio::test]
async fn an_empty_home_shows_where_to_begin() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::start(Home::at(folder.path().join("home")), options()).await.unwrap();
    let browser = Browser::open(&desk).await;
    browser.get("/").await.leads_to("/stores");
    browser.get("/stores").await.says("There is no store yet");
    browser.get("/sign-in").await.leads_to("/stores");
}

#[tokio::test]
async fn agent_applications_find_the_store_in_its_folder() {
    let world = World::new().await;
    let _desk = world.desk().await;
    for file in [".mcp.json", ".claude/settings.json", ".codex/config.toml", "opencode.json", "AGENTS.md"] {
        let text = std::fs::read_to_string(world.store("tea").join(file)).unwrap();
        assert!(text.contains("shopwright"), "{file}: {text}");
    }
    let config: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.store("tea").join(".mcp.json")).unwrap()).unwrap();
    let server = &config["mcpServers"]["shopwright"];
    assert_eq!(server["args"], serde_json::json!(["mcp", "--store", world.store("tea")]));
    assert_eq!(server["env"]["SHOPWRIGHT_HOME"], serde_json::json!(world.home().path()));
}

#[tokio::test]
async fn signing_out_ends_the_ticket_at_the_engine() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    browser.post("/sign-out", &[]).await.leads_to("/sign-in");
    for _ in 0..200 {
        if world.engine.commands().len() > 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(world.engine.commands(), [Request::PROGRAM_SIGN_IN, Request::PROGRAM_SIGN_OUT]);
    let inner = world.engine.inner.lock().unwrap();
    assert_eq!(inner.requests[1].session.as_deref(), Some("ticket-of-irina"));
}
