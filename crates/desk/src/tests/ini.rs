//! `Shop.ini` edited by hand while the program runs.

use home::{Pair, ShopIni, ask_pair};
use wire::{Request, catalogue};

use super::engine::{Engine, Mood};
use super::{Browser, World, pair};

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
async fn an_edited_address_is_used_and_the_ticket_ends_at_the_old_one() {
    for place in ["/again", "/stores/open"] {
        let world = World::new().await;
        let desk = world.desk_signed_in().await;
        let browser = Browser::open(&desk).await;
        let other = Engine::start().await;
        world.edit(|text| text.replace(&world.engine.url(), &other.url()));
        let folder = world.store("tea").to_string_lossy().into_owned();
        browser.post(place, &[("folder", &folder)]).await.leads_to("/");
        browser.get("/").await.says(other.url().trim_start_matches("http://"));
        assert_eq!(other.commands(), [Request::PROGRAM_SIGN_IN, Request::PROGRAM_HOME]);
        world.wait_for(|| world.engine.commands().len() > 1).await;
        assert_eq!(world.engine.commands(), [Request::PROGRAM_SIGN_IN, Request::PROGRAM_SIGN_OUT]);
        assert_eq!(ShopIni::read(&world.store("tea")).unwrap().url, other.url());
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
    assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::Given(pair()));
    world.edit(|text| text.replace("MaxFileSize=much", "MaxFileSize=7"));
    browser.post("/again", &[]).await.leads_to("/");
    browser.get("/").await.keeps_quiet("must be a number");
    assert_eq!(ShopIni::read(&world.store("tea")).unwrap().max_file_size_kb, 7);
}
