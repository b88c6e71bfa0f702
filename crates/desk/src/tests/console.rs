//! What a person does in the console.

use home::{Pair, Program, program_state, program_store};
use wire::catalogue;

use super::engine::Mood;
use super::{Browser, World, ask_pair, pair};

#[tokio::test]
async fn signing_in_hands_the_pair_over_and_signing_out_forgets_it() {
    let world = World::new().await;
    let (home, tea) = (world.home(), world.store("tea"));
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    browser.get("/").await.leads_to("/sign-in");
    assert_eq!(ask_pair(&home, &tea).await, Pair::SignedOut);

    let sent = [("login", "irina"), ("password", "green leaf"), ("keep", "1")];
    browser.post("/sign-in", &sent).await.leads_to("/");
    let page = browser.get("/").await;
    for words in ["Irina", "Managers", "Saved encrypted", "answers in", "Berlin"] {
        page.says(words);
    }
    page.keeps_quiet("green leaf");
    page.keeps_quiet("ticket");
    assert_eq!(ask_pair(&home, &tea).await, Pair::Given(pair()));
    assert_eq!(world.saved_password().as_deref(), Some("green leaf"));

    browser.post("/sign-out", &[]).await.leads_to("/sign-in");
    assert_eq!(ask_pair(&home, &tea).await, Pair::SignedOut);
    assert_eq!(world.saved_password(), None);
    browser.get("/").await.leads_to("/sign-in");
}

#[tokio::test]
async fn a_password_that_is_not_to_be_stored_is_not_and_an_older_one_goes() {
    let world = World::new().await;
    world.save_password("old leaf");
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    browser.post("/sign-in", &[("login", " irina "), ("password", "green leaf")]).await.leads_to("/");
    browser.get("/").await.says("Not saved");
    assert_eq!(world.saved_password(), None);
    assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::Given(pair()));
}

#[tokio::test]
async fn every_no_of_the_store_is_said_in_words() {
    let world = World::new().await;
    let desk = world.desk().await;
    let mut browser = Browser::open(&desk).await;
    let said = [
        (Mood::Fair, "Login or password is wrong", "Логин или пароль неверен"),
        (Mood::Refuses(catalogue::shop_is_lock()), "closed for works", "закрыт на работы"),
        (Mood::Refuses(catalogue::access_denied_bare()), "blocked", "заблокирован"),
        (
            Mood::Refuses(catalogue::backup_time("05:00", "05:30")),
            "(05:00 - 05:30, the",
            "(05:00 - 05:30, время",
        ),
        (
            Mood::Refuses(catalogue::backup_soon("05:00", "05:30")),
            "(05:00 - 05:30, the",
            "(05:00 - 05:30, время",
        ),
        (
            Mood::Refuses(catalogue::version_client("0.1", "9")),
            "program 0.1, the engine",
            "program 0.1, the engine",
        ),
        (Mood::Refuses(catalogue::unknown_command("X")), "Unknown command: X", "Unknown command: X"),
        (Mood::Page, "A web page came", "пришла веб-страница"),
        (Mood::Status(502), "HTTP 502", "HTTP 502"),
        (Mood::Status(302), "leads elsewhere", "ведёт в другое место"),
        (Mood::Nonsense, "Something else answered", "Ответил не магазин"),
    ];
    for (mood, english, russian) in said {
        world.engine.set(|inner| inner.mood = mood.clone());
        for (language, words) in [("en", english), ("ru", russian)] {
            browser.language = language;
            let page = browser.post("/sign-in", &[("login", "oleg"), ("password", "wrong leaf")]).await;
            assert_eq!(page.status, 200);
            page.says(words);
            page.says("value=\"oleg\"");
            page.keeps_quiet("wrong leaf");
        }
    }
    assert_eq!(ask_pair(&world.home(), &world.store("tea")).await, Pair::SignedOut);
}

#[tokio::test]
async fn the_nearing_backup_does_not_keep_a_person_out() {
    let world = World::new().await;
    world.engine.set(|inner| inner.mood = Mood::Soon(3));
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    browser.post("/sign-in", &[("login", "irina"), ("password", "green leaf")]).await.leads_to("/");
}

#[tokio::test]
async fn an_engine_out_of_reach_is_said() {
    let world = World::new().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.add("far", "Far", &format!("http://{free}"));
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    let page = browser.post("/sign-in", &[("login", "irina"), ("password", "x")]).await;
    page.says("cannot be reached");
    world.add("plain", "Plain", "http://192.0.2.1");
    let folder = world.store("plain").to_string_lossy().into_owned();
    browser.post("/stores/open", &[("folder", &folder)]).await.leads_to("/");
    browser.post("/sign-in", &[("login", "irina"), ("password", "x")]).await.says("plain http");
}

#[tokio::test]
async fn pages_follow_the_store_language_once_somebody_is_signed_in() {
    let world = World::new().await;
    world.engine.set(|inner| inner.language = "ru");
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let page = browser.get("/").await;
    page.says("<html lang=\"ru\">");
    page.says("Приложения с агентами");
    browser.post("/sign-out", &[]).await;
    browser.get("/sign-in").await.says("Store password");
}

#[tokio::test]
async fn stores_are_added_switched_and_removed() {
    let world = World::new().await;
    let (home, tea) = (world.home(), world.store("tea"));
    world.save_password("green leaf");
    let desk = world.desk().await;
    assert_eq!(program_state(&home, &tea).await, Program::Running { signed_in: true });
    let browser = Browser::open(&desk).await;

    let coffee = world.store("coffee");
    let folder = coffee.to_string_lossy().into_owned();
    let url = format!("{}/coffee", world.engine.url());
    let sent = [("url", url.as_str()), ("folder", &folder), ("name", "Coffee")];
    browser.post("/stores/add", &sent).await.leads_to("/");
    browser.get("/").await.leads_to("/sign-in");
    assert_eq!(program_store(&home), Some(coffee.clone()));
    assert_eq!(home.stores().unwrap().last, Some(coffee.clone()));
    assert_eq!(program_state(&home, &tea).await, Program::Other { store: coffee.clone() });
    assert_eq!(ask_pair(&home, &tea).await, Pair::Other { store: coffee.clone() });

    // Back: the saved password signs in at once.
    let back = tea.to_string_lossy().into_owned();
    browser.post("/stores/open", &[("folder", &back)]).await.leads_to("/");
    browser.get("/").await.says("Irina");
    assert_eq!(ask_pair(&home, &tea).await, Pair::Given(pair()));

    browser.post("/stores/remove", &[("folder", &folder)]).await.leads_to("/stores");
    assert!(coffee.join("Shop.ini").exists());
    browser.get("/stores").await.keeps_quiet("Coffee");
    browser.post("/stores/remove", &[("folder", &back)]).await.leads_to("/stores");
    assert_eq!(world.saved_password(), None);
    assert_eq!(program_state(&home, &tea).await, Program::Closed);
    assert_eq!(home.stores().unwrap(), home::StoreList::default());
    browser.get("/").await.leads_to("/stores");
    browser.get("/stores").await.says("There is no store yet");
    browser.post("/stores/open", &[("folder", &back)]).await.says("not in the list any more");
}

#[tokio::test]
async fn a_store_that_cannot_be_added_is_said_and_what_was_typed_stays() {
    let world = World::new().await;
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    let (tea, home) = (world.store("tea"), world.home());
    let free = world.store("free");
    let (tea, home, free) = (tea.to_string_lossy(), home.path().to_string_lossy(), free.to_string_lossy());
    for (url, folder, words) in [
        ("", "", "Name the store"),
        ("", &*free, "Name the store"),
        ("ftp://a", &*free, "not a web address"),
        ("https://irina:leaf@tea.example", &*free, "not a web address"),
        ("https://tea.example", "tea", "whole path"),
        ("https://tea.example", "/", "whole path"),
        ("https://tea.example", "/a/../b", "whole path"),
        ("https://tea.example", &*home, "program&#x27;s own"),
        ("https://tea.example", &*tea, "already belongs"),
        ("https://tea.example", "/proc/tea", "cannot be used"),
    ] {
        let page = browser.post("/stores/add", &[("url", url), ("folder", folder), ("name", "<b>")]).await;
        assert_eq!(page.status, 200);
        page.says(words);
        page.says("value=\"&lt;b&gt;\"");
    }
    assert_eq!(world.home().stores().unwrap().stores.len(), 1);
}

#[tokio::test]
async fn a_folder_that_has_a_connection_needs_no_address() {
    let world = World::new().await;
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    let folder = world.store("tea").to_string_lossy().into_owned();
    browser.post("/stores/remove", &[("folder", &folder)]).await.leads_to("/stores");
    browser.post("/stores/add", &[("url", ""), ("folder", &folder)]).await.leads_to("/");
    browser.get("/sign-in").await.says("value=\"irina\"");
}

#[tokio::test]
async fn a_broken_connection_file_is_said() {
    let world = World::new().await;
    std::fs::write(world.store("tea").join("Shop.ini"), "[Store]\nName=Tea\n").unwrap();
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    browser.get("/sign-in").await.says("has no `Url`");
    browser.get("/stores").await.says("has no `Url`");
    assert_eq!(
        program_state(&world.home(), &world.store("tea")).await,
        Program::Running { signed_in: false }
    );
}

#[tokio::test]
async fn whether_applications_ask_is_chosen_once_and_told_to_them() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let codex = world.store("tea").join(".codex/config.toml");
    let mode = || {
        let text = std::fs::read_to_string(&codex).unwrap();
        text.lines().find(|line| line.starts_with("default_tools_approval_mode")).map(str::to_owned)
    };
    assert_eq!((mode(), world.home().approval()), (None, None));
    browser.get("/").await.keeps_quiet("checked required");
    for (choice, word) in [("approve", "approve"), ("ask", "prompt")] {
        browser.post("/approval", &[("approval", choice)]).await.leads_to("/");
        assert_eq!(mode(), Some(format!("default_tools_approval_mode = \"{word}\"")));
        browser.get("/").await.says(&format!("value=\"{choice}\" checked"));
    }
    assert_eq!(browser.post("/approval", &[("approval", "maybe")]).await.status, 422);
    assert_eq!(world.home().approval(), Some(home::Approval::Ask));
}
