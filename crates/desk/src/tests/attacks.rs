//! What a page of another site, or another user of this computer, may try against the console.

use reqwest::{Method, header};

use super::{Browser, Page, World, encoded, read};

type Headers<'a> = &'a [(header::HeaderName, &'a str)];

/// A request as an attacker forms it.
async fn forged(browser: &Browser, method: Method, path: &str, headers: Headers<'_>, body: String) -> Page {
    let mut request = browser.client.request(method, format!("{}{path}", browser.base)).body(body);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    read(request.send().await.unwrap()).await
}

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn without_the_cookie_nothing_is_shown() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let stranger = Browser::stranger(&desk);
    for path in ["/", "/sign-in", "/stores", "/nowhere", "/sign-out"] {
        let page = stranger.get(path).await;
        assert_eq!(page.status, 401, "{path}");
        for secret in ["Tea", "Irina", "irina", "csrf", "green"] {
            page.keeps_quiet(secret);
        }
    }
    for secret in ["", "0", &"0".repeat(64)] {
        let response =
            stranger.client.get(format!("{}/start?secret={secret}", stranger.base)).send().await.unwrap();
        assert_eq!(response.status(), 401);
        assert!(response.headers().get(header::SET_COOKIE).is_none());
    }
    assert_eq!(stranger.get("/start").await.status, 401);
}

#[tokio::test]
async fn a_cookie_of_another_program_that_is_no_ascii_does_not_hide_ours() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    for foreign in [&b"theme=caf\xe9; "[..], "name=\u{43a}\u{43e}\u{442}; ".as_bytes()] {
        let cookies = [foreign, browser.cookie.as_bytes()].concat();
        let value = header::HeaderValue::from_bytes(&cookies).unwrap();
        let request = browser.client.get(format!("{}/", browser.base)).header(header::COOKIE, value);
        read(request.send().await.unwrap()).await.says("Irina");
    }
}

#[tokio::test]
async fn a_cookie_of_another_start_opens_nothing() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let (name, _) = browser.cookie.split_once('=').unwrap();
    let start = desk.console_url().split_once("secret=").unwrap().1.to_owned();
    for value in ["0".repeat(64), String::new(), start, "a; b".to_owned()] {
        let forged = Browser { cookie: format!("{name}={value}"), ..Browser::stranger(&desk) };
        assert_eq!(forged.get("/").await.status, 401);
    }
}

#[tokio::test]
async fn a_foreign_host_name_is_refused_even_with_the_cookie() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let port = desk.address().port();
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("LocalHost:{port}")];
    for host in &ours {
        let headers = [(header::HOST, host.as_str()), (header::COOKIE, &browser.cookie)];
        assert_eq!(forged(&browser, Method::GET, "/", &headers, String::new()).await.status, 200, "{host}");
    }
    let foreign = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("evil.example@127.0.0.1:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("0.0.0.0:{port}"),
        String::new(),
    ];
    for host in &foreign {
        for path in ["/", "/stores", "/console.css", &desk.console_url().split_off(browser.base.len())] {
            let headers = [(header::HOST, host.as_str()), (header::COOKIE, &browser.cookie)];
            let page = forged(&browser, Method::GET, path, &headers, String::new()).await;
            assert!(page.status == 421 || page.status == 400, "{host} {path}: {}", page.status);
            page.keeps_quiet("Irina");
            if page.status == 421 {
                page.says(&format!("own address, http:&#x2f;&#x2f;127.0.0.1:{port}. "));
            }
        }
    }
}

#[tokio::test]
async fn a_foreign_cookie_that_is_no_ascii_does_not_keep_the_own_one_out() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    for (before, after) in [(&b"odd=\xe9; "[..], &b""[..]), (b"", b"; odd=caf\xc3\xa9\xff")] {
        let mut line = tokio::net::TcpStream::connect(desk.address()).await.unwrap();
        let start = format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: ", desk.address());
        let request = [start.as_bytes(), before, browser.cookie.as_bytes(), after, b"\r\n\r\n"].concat();
        line.write_all(&request).await.unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test]
async fn two_host_lines_are_refused() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = World::new().await;
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    let mut line = tokio::net::TcpStream::connect(desk.address()).await.unwrap();
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nHost: evil.example\r\nCookie: {}\r\nConnection: close\r\n\r\n",
        desk.address(),
        browser.cookie
    );
    line.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    line.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    world.save_password("green leaf");
    let browser = Browser::open(&desk).await;
    let (cookie, own) = (browser.cookie.as_str(), browser.base.as_str());
    let right = encoded(&[("csrf", &browser.csrf)]);
    let localhost = format!("http://localhost:{}", desk.address().port());
    let cases: &[(Headers<'_>, &str, u16)] = &[
        // A foreign origin, with everything else right.
        (&[(header::ORIGIN, "https://evil.example"), (header::COOKIE, cookie)], &right, 403),
        (&[(header::ORIGIN, "null"), (header::COOKIE, cookie)], &right, 403),
        (&[(header::ORIGIN, &localhost), (header::COOKIE, cookie)], &right, 403),
        (&[(header::ORIGIN, "http://127.0.0.1"), (header::COOKIE, cookie)], &right, 403),
        // No origin at all.
        (&[(header::COOKIE, cookie)], &right, 403),
        // No cookie.
        (&[(header::ORIGIN, own)], &right, 401),
        // No word of our forms, a wrong one, an empty one, two.
        (&[(header::ORIGIN, own), (header::COOKIE, cookie)], "", 403),
        (&[(header::ORIGIN, own), (header::COOKIE, cookie)], "csrf=", 403),
        (&[(header::ORIGIN, own), (header::COOKIE, cookie)], "csrf=00", 403),
        (&[(header::ORIGIN, own), (header::COOKIE, cookie)], &format!("csrf=00&{right}"), 403),
    ];
    for path in
        ["/sign-out", "/sign-in", "/again", "/stores/remove", "/stores/add", "/stores/open", "/nowhere"]
    {
        for (headers, body, status) in cases {
            let mut headers = headers.to_vec();
            headers.push((header::CONTENT_TYPE, FORM));
            let page = forged(&browser, Method::POST, path, &headers, (*body).to_owned()).await;
            assert_eq!(page.status, *status, "{path} {headers:?} {body}");
        }
    }
    // As JSON or plain text, which a foreign page can send without asking first.
    for kind in ["text/plain", "application/json"] {
        let headers = [(header::ORIGIN, own), (header::COOKIE, cookie), (header::CONTENT_TYPE, kind)];
        assert_eq!(forged(&browser, Method::POST, "/sign-out", &headers, right.clone()).await.status, 403);
    }
    assert_eq!(world.saved_password().as_deref(), Some("green leaf"));
    browser.get("/").await.says("Irina");
}

#[tokio::test]
async fn a_link_changes_nothing() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    for path in ["/sign-out", "/again", "/stores/remove", "/stores/add", "/stores/open"] {
        assert_eq!(browser.get(&format!("{path}?csrf={}", browser.csrf)).await.status, 405, "{path}");
    }
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
        let headers = [(header::COOKIE, browser.cookie.as_str())];
        let page = forged(&browser, method.clone(), "/sign-out", &headers, String::new()).await;
        assert_eq!(page.status, 403, "{method}");
    }
    browser.get("/").await.says("Irina");
}

#[tokio::test]
async fn every_answer_carries_the_protecting_headers() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let browser = Browser::open(&desk).await;
    let start = desk.console_url().split_off(browser.base.len());
    for path in
        ["/", "/stores", "/sign-in", "/console.css", "/icon.svg", "/nowhere", &start, "/start?secret=0"]
    {
        let request =
            browser.client.get(format!("{}{path}", browser.base)).header(header::COOKIE, &browser.cookie);
        let response = request.send().await.unwrap();
        let said = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(
            said("content-security-policy").starts_with("default-src 'none'; style-src 'self'"),
            "{path}"
        );
        assert!(!said("content-security-policy").contains("unsafe"), "{path}");
        assert_eq!(said("x-content-type-options"), "nosniff");
        assert_eq!(said("x-frame-options"), "DENY");
        assert_eq!(said("cache-control"), "no-store");
        assert_eq!(said("referrer-policy"), "same-origin");
        assert!(response.headers().get("access-control-allow-origin").is_none());
        let page = read(response).await;
        for inline in ["<script", " style=", " onclick=", " onload=", "javascript:"] {
            page.keeps_quiet(inline);
        }
    }
}

#[tokio::test]
async fn what_the_store_says_is_no_markup() {
    let world = World::new().await;
    let desk = world.desk_signed_in().await;
    let page = Browser::open(&desk).await.get("/").await;
    page.says("Irina &lt;Petrova&gt;");
    page.keeps_quiet("<Petrova>");
    page.says("Tea &amp; &lt;Leaf&gt;");
}

#[tokio::test]
async fn a_form_too_large_is_refused() {
    let world = World::new().await;
    let desk = world.desk().await;
    let browser = Browser::open(&desk).await;
    assert_eq!(browser.post("/sign-in", &[("login", &"x".repeat(100_000))]).await.status, 413);
    browser.get("/stores").await.says("Tea");
}
