//! `Shop.ini` edited by hand while the program runs.

use home::{Pair, ShopIni};
use wire::{Request, catalogue};

use super::engine::{Engine, Mood};
use super::{Browser, World, ask_pair, pair};

impl World {
    fn edit(&self, change: impl FnOnce(String) -> String) {
        let path = self.store("tea").join("Shop.ini");
        std::fs::write(&path, change(std::fs::read_to_string(&path).unwrap())).unwrap();
    }
}

#[tokio::test]
async fn what_a_person_edited_survives_the_next_sign_in() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    world.edit(|text| text.replace("MaxFileSize=65536", "MaxFileSize=99") + "; mine\n");
    browser.post("/again", &[]).await.leads_to("/");
    let sent = [("login", "irina"), ("password", "green leaf")];
    browser.post("/sign-in", &sent).await.leads_to("/");
    assert_eq!(ShopIni::read(&world.store("tea")).unwrap().max_file_size_kb, 99);
}

#[tokio::test]
async fn an_edited_address_asks_again_and_the_ticket_ends_at_the_old_one() {
    for place in ["/again", "/stores/open"] {
        let world = World::new().await;
        world.save_password("green leaf");
        let desk = world.desk_signed_in().await;
        let browser = Browser::open(&desk).await;
        let other = Engine::start().await;
        world.edit(|text| text.replace(&world.engine.url(), &other.url()));
        // Also before the program has looked at the file.
        assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::OtherAddress);
        let folder = world.store("tea").to_string_lossy().into_owned();
        browser.post(place, &[("folder", &folder)]).await.leads_to("/");
        browser.get("/").await.leads_to("/sign-in");
        let page = browser.get("/sign-in").await;
        page.says(other.url().trim_start_matches("http://"));
        page.says(world.engine.url().trim_start_matches("http://"));
        assert!(other.commands().is_empty(), "the password of another address went there");
        assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::SignedOut);
        world.wait_for(|| world.engine.commands().len() > 1).await;
        assert_eq!(world.engine.commands(), [Request::PROGRAM_SIGN_IN, Request::PROGRAM_SIGN_OUT]);
        let sent = [("login", "irina"), ("password", "green leaf"), ("keep", "1")];
        browser.post("/sign-in", &sent).await.leads_to("/");
        browser.get("/").await.says("Irina");
        assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::Given(pair()));
    }
}

#[tokio::test]
async fn opening_the_open_store_tries_again() {
    let world = World::new().await;
    world.save_password("green leaf");
    world.engine.set(|inner| inner.mood = Mood::Refuses(catalogue::shop_is_lock()));
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    world.engine.set(|inner| inner.mood = Mood::Fair);
    let folder = world.store("tea").to_string_lossy().into_owned();
    browser.post("/stores/open", &[("folder", &folder)]).await.leads_to("/");
    browser.get("/").await.says("Irina");
}

#[tokio::test]
async fn an_edit_that_went_wrong_is_said_and_not_lost() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    world.edit(|text| text.replace("MaxFileSize=65536", "MaxFileSize=much"));
    browser.post("/again", &[]).await.leads_to("/");
    browser.get("/").await.says("must be a number of kilobytes");
    let given = home::ask_pair(&world.home(), &world.store("tea"), &world.engine.url()).await;
    assert_eq!(given, Pair::Given(pair()));
    world.edit(|text| text.replace("MaxFileSize=much", "MaxFileSize=7"));
    browser.post("/again", &[]).await.leads_to("/");
    browser.get("/").await.keeps_quiet("must be a number");
    assert_eq!(ShopIni::read(&world.store("tea")).unwrap().max_file_size_kb, 7);
}
