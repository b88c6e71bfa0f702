//! What waits for the person, on the console's home page.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wire::{Request, catalogue};

use super::engine::Mood;
use super::{Browser, World};

fn waits() -> Value {
    json!({
        "tasks": {
            "waiting": [{"state": "kNew", "name": "New", "count": 12}, {"state": "kComplete", "name": "<Done>", "count": 3}],
            "given": [],
        },
        "memory": {"notes": 7, "critical": [4, 5]},
        "in_work": [{"login": "oleg", "name": "Oleg <Ivanov>", "what": "memory is edited",
            "tables": ["notes", "ai_tools"], "since": "2026-11-30T12:00:00Z"}],
    })
}

#[tokio::test]
async fn home_shows_what_waits_anew_at_each_look() {
    let world = World::new().await;
    world.engine.set(|inner| inner.waits = waits());
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let page = browser.get("/").await;
    for words in [
        "<b>12</b> New",
        "<b>3</b> &lt;Done&gt;",
        "Notes: 7, critical: 2",
        "Oleg &lt;Ivanov&gt;",
        "(oleg), since ",
        "memory is edited",
        "<code>notes</code> <code>ai_tools</code>",
    ] {
        page.says(words);
    }
    world.engine.set(|inner| inner.waits["tasks"]["waiting"] = json!([]));
    world.engine.set(|inner| inner.waits["in_work"] = json!([]));
    let page = browser.get("/").await;
    page.keeps_quiet("<b>12</b> New");
    page.keeps_quiet("Oleg");
}

#[tokio::test]
async fn what_is_not_the_persons_to_see_is_said() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let page = browser.get("/").await;
    page.says("no right to the scheduler");
    page.says("no right to the memory");
}

#[tokio::test]
async fn a_store_that_does_not_tell_leaves_a_line_in_words() {
    let world = World::new().await;
    world.engine.set(|inner| inner.waits = waits());
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    for (mood, words) in [
        (Mood::Refuses(catalogue::shop_is_lock()), "is not known now. The store is closed for works"),
        (Mood::Page, "is not known now. A web page came"),
        (Mood::Status(502), "HTTP 502"),
        (Mood::Nonsense, "is not known now. Something else answered"),
    ] {
        world.engine.set(|inner| inner.mood = mood);
        let page = browser.get("/").await;
        assert_eq!(page.status, 200);
        page.says(words);
        page.says("Irina");
        page.keeps_quiet("Oleg");
    }
    world.engine.set(|inner| inner.waits["tasks"] = json!("odd"));
    world.engine.set(|inner| inner.mood = Mood::Fair);
    browser.get("/").await.says("is not known now. Something else answered");
    // One request in ten before the backup is repeated.
    world.engine.set(|inner| (inner.waits, inner.mood) = (waits(), Mood::Soon(3)));
    browser.get("/").await.says("<b>12</b> New");
}

#[tokio::test]
async fn a_store_that_hangs_does_not_hang_the_page() {
    let world = World::new().await;
    world.engine.set(|inner| inner.language = "ru");
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    world.engine.set(|inner| inner.mood = Mood::Hangs);
    let start = Instant::now();
    browser.get("/").await.says("сейчас неизвестно. Сервер магазина не ответил вовремя");
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_store_out_of_reach_leaves_a_line() {
    let mut world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    world.engine.stop().await;
    let page = browser.get("/").await;
    page.says("is not known now. The store&#x27;s server cannot be reached");
    page.says("The store does not answer");
}

#[tokio::test]
async fn a_ticket_that_ran_out_is_renewed_for_the_page() {
    let world = World::new().await;
    world.engine.set(|inner| inner.waits = waits());
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    world.engine.set(|inner| inner.forgets_ticket = true);
    browser.get("/").await.says("<b>12</b> New");
    let signed_in =
        world.engine.commands().iter().filter(|command| *command == Request::PROGRAM_SIGN_IN).count();
    assert_eq!(signed_in, 2);
}

#[tokio::test]
async fn a_password_that_was_changed_leads_to_the_sign_in() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    world.engine.set(|inner| inner.mood = Mood::Refuses(catalogue::wrong_password()));
    browser.get("/").await.leads_to("/sign-in");
    browser.get("/sign-in").await.says("Login or password is wrong");
}
