//! Attempts that end late: what a person did meanwhile counts.

use std::sync::Arc;

use home::{Credentials, Pair};
use tokio::sync::Notify;
use wire::{Request, catalogue};
use zeroize::Zeroizing;

use super::engine::Mood;
use super::{Browser, Page, World, ask_pair, pair};
use crate::program::Program;

const OLEG: [(&str, &str); 2] = [("login", "oleg"), ("password", "black leaf")];

fn oleg() -> Credentials {
    Credentials { login: "oleg".to_owned(), password: Zeroizing::new("black leaf".to_owned()) }
}

impl World {
    /// Tries the held pair again; while the engine takes its time over it, the person does something else.
    async fn meanwhile(&self, browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
        let gate = Arc::new(Notify::new());
        self.engine.set(|inner| inner.mood = Mood::Holds(Arc::clone(&gate)));
        let other = async {
            self.wait_for(|| self.engine.inner.lock().unwrap().holding).await;
            let page = browser.post(path, fields).await;
            gate.notify_one();
            page
        };
        let (_, page) = tokio::join!(browser.post("/again", &[]), other);
        page
    }

    async fn pair(&self) -> Pair {
        ask_pair(&self.home(), &self.store("tea")).await
    }

    /// A program whose held password the store has not confirmed.
    async fn unconfirmed(&self, password: &str) -> crate::RunningDesk {
        self.save_password(password);
        self.engine.set(|inner| inner.mood = Mood::Refuses(catalogue::shop_is_lock()));
        self.desk().await
    }
}

#[tokio::test]
async fn a_sign_in_under_way_does_not_undo_a_sign_out() {
    let world = World::new().await;
    let desk = world.unconfirmed("green leaf").await;
    let browser = Browser::open(&desk).await;
    world.meanwhile(&browser, "/sign-out", &[]).await.leads_to("/sign-in");
    assert_eq!(world.pair().await, Pair::SignedOut);
    assert_eq!(world.saved_password(), None);
    // The ticket nobody wants any more is ended.
    let ends = || world.engine.commands().iter().any(|command| command == Request::PROGRAM_SIGN_OUT);
    world.wait_for(ends).await;
    assert!(ends());
}

#[tokio::test]
async fn a_sign_in_under_way_does_not_replace_another_person() {
    let world = World::new().await;
    let desk = world.unconfirmed("green leaf").await;
    let browser = Browser::open(&desk).await;
    world.meanwhile(&browser, "/sign-in", &OLEG).await.leads_to("/");
    assert_eq!(world.pair().await, Pair::Given(oleg()));
    browser.get("/").await.says("Oleg");
}

#[tokio::test]
async fn a_wrong_password_that_is_told_late_lets_nobody_elses_go() {
    let world = World::new().await;
    let desk = world.unconfirmed("old leaf").await;
    let browser = Browser::open(&desk).await;
    world.meanwhile(&browser, "/sign-in", &OLEG).await.leads_to("/");
    assert_eq!(world.pair().await, Pair::Given(oleg()));
    browser.get("/").await.keeps_quiet("password is wrong");
}

#[tokio::test]
async fn a_sign_in_by_hand_that_comes_too_late_saves_nothing() {
    let world = World::new().await;
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    let gate = Arc::new(Notify::new());
    world.engine.set(|inner| inner.mood = Mood::Holds(Arc::clone(&gate)));
    let sent = [("login", "irina"), ("password", "green leaf"), ("keep", "1")];
    let other = async {
        world.wait_for(|| world.engine.inner.lock().unwrap().holding).await;
        browser.post("/sign-out", &[]).await.leads_to("/sign-in");
        gate.notify_one();
    };
    let (page, ()) = tokio::join!(browser.post("/sign-in", &sent), other);
    page.says("came too late");
    assert_eq!(world.pair().await, Pair::SignedOut);
    assert_eq!(world.saved_password(), None);
}

#[tokio::test]
async fn what_began_before_a_sign_in_changes_nothing_after_it() {
    let world = World::new().await;
    let program = Program::new(world.home(), "shopwright".into(), "desk.sock".into(), String::new());
    let list = program.stores().unwrap();
    program.open(&list.stores[0]).unwrap();
    let before = program.store().unwrap().turn();
    program.sign_in(oleg(), false).await.unwrap();
    // The keyring's late answer.
    program.change(before, |open| open.pair = Some(pair()));
    assert_eq!(program.held().credentials, Some(oleg()));
}
