//! The daily licence tokens.

use std::path::PathBuf;

use super::engine::day;
use super::{Browser, World};

impl World {
    fn token(&self, later: i64) -> PathBuf {
        self.store("tea").join("tokens").join(format!("irina-{}.lic", day(later)))
    }

    pub(super) async fn wait_for(&self, done: impl Fn() -> bool) {
        for _ in 0..1500 {
            if done() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_licensed_store_gets_the_token_of_the_day() {
    let world = World::new().await;
    world.engine.set(|inner| inner.licensed = true);
    let old = world.store("tea").join("tokens/irina-2020-01-01.lic");
    let foreign = world.store("tea").join("tokens/notes.txt");
    std::fs::create_dir(world.store("tea").join("tokens")).unwrap();
    std::fs::write(&old, "old").unwrap();
    std::fs::write(&foreign, "mine").unwrap();
    let _desk = world.desk_signed_in().await;
    // There as soon as the person is signed in.
    assert_eq!(std::fs::read_to_string(world.token(0)).unwrap(), format!("v4.public.{}", day(0)));
    world.wait_for(|| !old.exists()).await;
    assert!(!old.exists() && foreign.exists());
    assert!(home::ShopIni::read(&world.store("tea")).unwrap().licensed);
    let asked = world.engine.inner.lock().unwrap().tokens[0].clone();
    assert_eq!(asked["proof"], format!("proof of {}", day(0)));
    assert_eq!((&asked["domain"], &asked["login"]), (&"tea.example".into(), &"irina".into()));
}

#[tokio::test]
async fn an_authority_that_says_no_is_quoted_in_the_console() {
    let world = World::new().await;
    world.engine.set(|inner| {
        inner.licensed = true;
        inner.no_token = Some("the customer's licence ended");
    });
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    browser.get("/").await.says("licence ended");
    assert!(!world.token(0).exists());
}

#[tokio::test]
async fn a_store_without_a_licence_asks_nobody() {
    let world = World::new().await;
    let _desk = world.desk_signed_in().await;
    assert!(!world.store("tea").join("tokens").exists());
    assert!(world.engine.inner.lock().unwrap().tokens.is_empty());
}

#[tokio::test]
async fn signing_in_anew_replaces_a_token_that_became_wrong() {
    let world = World::new().await;
    world.engine.set(|inner| inner.licensed = true);
    std::fs::create_dir(world.store("tea").join("tokens")).unwrap();
    std::fs::write(world.token(0), "of another domain").unwrap();
    let desk = world.desk_signed_in().await;
    assert!(std::fs::read_to_string(world.token(0)).unwrap().starts_with("v4.public."));
    // An authority that is away takes nothing from a token that is there.
    world.engine.set(|inner| inner.no_token = Some("away"));
    let browser = Browser::open(&desk).await;
    browser.post("/sign-in", &[("login", "irina"), ("password", "green leaf")]).await.leads_to("/");
    browser.get("/").await.keeps_quiet("away");
    assert!(world.token(0).exists());
}

#[tokio::test]
async fn a_ticket_that_ran_out_is_renewed_before_the_token() {
    let world = World::new().await;
    world.engine.set(|inner| {
        inner.licensed = true;
        inner.forgets_ticket = true;
    });
    let _desk = world.desk_signed_in().await;
    world.wait_for(|| world.token(0).exists()).await;
    assert!(world.token(0).exists());
}

#[tokio::test]
async fn a_store_that_becomes_licensed_in_mid_session_is_noticed() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    browser.get("/").await.says("Not needed");
    assert!(!home::ShopIni::read(&world.store("tea")).unwrap().licensed);
    world.engine.set(|inner| inner.licensed = true);
    browser.get("/").await.says("the day&#x27;s token");
    assert!(world.token(0).exists());
    assert!(home::ShopIni::read(&world.store("tea")).unwrap().licensed);
}

#[tokio::test]
async fn a_token_that_comes_takes_no_other_trouble_away() {
    let world = World::new().await;
    world.engine.set(|inner| inner.licensed = true);
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    // Nothing can be saved where the file of passwords is a folder.
    std::fs::create_dir(world.home().path().join("credentials")).unwrap();
    let sent = [("login", "irina"), ("password", "green leaf"), ("keep", "1")];
    browser.post("/sign-in", &sent).await.leads_to("/");
    assert!(world.token(0).exists());
    browser.get("/").await.says("the password was not saved");
}
