//! What units ask of other servers: only those that manifest and owner name, by real lines.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::test_store::{Base, TestStore};
use crate::units::{home, log, put_unit};

/// A server that keeps what it was asked and answers by path.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `answer` gets the first line, and answers everything that goes over the line; `None` never answers.
    fn start(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || drop(serve(stream.unwrap(), &kept, &*answer)));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    kept: &Mutex<Vec<String>>,
    answer: &dyn Fn(&str) -> Option<String>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    kept.lock().unwrap().push(head.clone() + &String::from_utf8_lossy(&body));
    match answer(head.lines().next().unwrap_or_default()) {
        Some(answer) => stream.write_all(answer.as_bytes()),
        // Until the other end is gone.
        None => reader.read_to_end(&mut body).map(drop),
    }
}

fn ok(kind: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nset-cookie: a=b\r\nx-own: 1\r\n\r\n{body}"
    ))
}

fn redirect(to: &str) -> Option<String> {
    Some(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
}

/// A store whose home page may ask these ports of this computer.
async fn store(ports: &[u16]) -> TestStore {
    let mut store = TestStore::on(Base::Sqlite).await.unwrap();
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    store.settings(json!({"grants": {"home": {"network": hosts}}})).await;
    store
}

async fn says(store: &TestStore, ports: &[u16], code: &str) -> String {
    let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let code = format!(
        "export function main() {{ try {{ {code} }} catch (e) {{ return e.code + ' ' + e.message; }} }}"
    );
    put_unit(
        store,
        "home",
        &code,
        &json!({"network": hosts, "cache": {"on": false}, "writes": ["suppliers"]}).to_string(),
    );
    let (status, page) = home(store).await;
    assert_eq!(status, 200, "{:?}", log(store));
    page
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_granted_is_asked() {
    let server = Server::start(|line| match line {
        line if line.starts_with("POST /v1?x=1 ") => {
            ok("application/json", r#"{"rate": 1.5, "n": [1, null]}"#)
        }
        _ => ok("text/plain", "hé"),
    });
    let port = server.port;
    let store = store(&[port]).await;
    let page = says(&store, &[port], &format!(
        "const r = shop.fetch('http://127.0.0.1:{port}/v1?x=1', {{ method: 'POST', as: 'json', body: {{ a: 1 }},
           headers: {{ Authorization: 'Bearer k', 'x-own': 'ü'.normalize('NFD').slice(0, 1) }} }});
         return JSON.stringify([r.status, r.body.rate, r.body.n, r.headers['x-own'], r.headers['set-cookie'] === undefined]);"
    )).await;
    assert_eq!(page, "[200,1.5,[1,null],\"1\",true]");
    let asked = server.asked().remove(0).to_ascii_lowercase();
    assert!(
        asked.contains("authorization: bearer k") && asked.contains("content-type: application/json"),
        "{asked}"
    );
    assert!(asked.ends_with("{\"a\":1}") && asked.contains(&format!("host: 127.0.0.1:{port}")), "{asked}");
    let page = says(&store, &[port], &format!(
        "const r = shop.fetch('http://127.0.0.1:{port}/'); const b = shop.fetch('http://127.0.0.1:{port}/', {{ as: 'bytes' }});
         return r.body + ' ' + b.body.length;"
    )).await;
    assert_eq!(page, "hé 3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_not_granted_is_not_asked() {
    let server = Server::start(|_| ok("text/plain", "inside"));
    let port = server.port;
    let store = store(&[port]).await;
    // Granted by the owner, but not named by the manifest; and the other way round.
    let page = says(&store, &[], &format!("return shop.fetch('http://127.0.0.1:{port}/').body;")).await;
    assert!(page.starts_with("NOT_GRANTED "), "{page}");
    let page = says(&store, &[port, 1], "return shop.fetch('http://127.0.0.1:1/').body;").await;
    assert!(page.starts_with("NOT_GRANTED "), "{page}");
    for url in [
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://127.0.0.2:{port}/"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "file:///etc/passwd".to_owned(),
        format!("http://a:b@127.0.0.1:{port}/"),
        format!("gopher://127.0.0.1:{port}/"),
        "nonsense".to_owned(),
    ] {
        let page = says(&store, &[port], &format!("return shop.fetch({}).body;", json!(url))).await;
        assert!(
            ["NOT_GRANTED ", "FETCH ", "ARGUMENT "].iter().any(|code| page.starts_with(code)),
            "{url}: {page}"
        );
    }
    for options in [
        "{ headers: { Host: 'x' } }",
        "{ headers: { cookie: 'x' } }",
        "{ headers: { 'X-Forwarded-For': 'x' } }",
        "{ headers: { a: 'b\\r\\nc: d' } }",
        "{ headers: { 'a b': 'c' } }",
        "{ headers: { 'transfer-encoding': 'chunked' } }",
        "{ method: 'CONNECT' }",
        "{ method: 'get' }",
        "{ body: 'x' }",
        "{ as: 'file' }",
        "{ timeout: -1 }",
        "5",
    ] {
        let page =
            says(&store, &[port], &format!("return shop.fetch('http://127.0.0.1:{port}/', {options}).body;"))
                .await;
        assert!(page.starts_with("ARGUMENT "), "{options}: {page}");
    }
    assert_eq!(server.asked(), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_are_looked_at_like_the_first_address() {
    let other = Server::start(|_| ok("text/plain", "other"));
    let inside = Server::start(|_| ok("text/plain", "inside"));
    let (to, hidden) = (other.port, inside.port);
    let server = Server::start(move |line| match line.split(' ').nth(1).unwrap() {
        "/other" => redirect(&format!("http://127.0.0.1:{to}/x")),
        "/inside" => redirect(&format!("http://127.0.0.1:{hidden}/")),
        "/file" => redirect("file:///etc/passwd"),
        "/here" => redirect("/there"),
        "/there" => ok("text/plain", "there"),
        _ => redirect("/loop"),
    });
    let port = server.port;
    let store = store(&[port, to]).await;
    let fetch = |path: &str, options: &str| {
        format!(
            "const r = shop.fetch('http://127.0.0.1:{port}{path}', {options}); return r.status + ' ' + r.body;"
        )
    };
    let ports = [port, to];
    let key = "{ headers: { authorization: 'Bearer k' } }";
    assert_eq!(says(&store, &ports, &fetch("/here", key)).await, "200 there");
    assert_eq!(says(&store, &ports, &fetch("/other", key)).await, "200 other");
    assert!(server.asked().iter().all(|asked| asked.contains("Bearer k")));
    assert!(!other.asked()[0].contains("Bearer k"), "{:?}", other.asked());
    assert!(says(&store, &ports, &fetch("/inside", "{}")).await.starts_with("NOT_GRANTED "));
    assert!(says(&store, &ports, &fetch("/file", "{}")).await.starts_with("FETCH "));
    assert!(says(&store, &ports, &fetch("/loop", "{}")).await.starts_with("FETCH more than 5 redirects"));
    // What may do something twice is not sent on.
    assert_eq!(says(&store, &ports, &fetch("/here", "{ method: 'POST' }")).await, "302 ");
    assert_eq!(inside.asked(), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_bounded_in_size_and_time() {
    let server = Server::start(|line| match line.split(' ').nth(1).unwrap() {
        "/large" => ok("text/plain", &"x".repeat((2 << 20) + 1)),
        "/short" => Some("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx".to_owned()),
        "/odd" => Some("nonsense\r\n\r\n".to_owned()),
        "/json" => ok("application/json", "{"),
        "/fine" => ok("text/plain", "fine"),
        _ => None,
    });
    let port = server.port;
    let store = store(&[port]).await;
    for (path, options, words) in [
        ("/large", "{}", "LIMIT the answer has more than"),
        ("/never", "{ timeout: 100 }", "LIMIT the other server did not answer in time"),
        ("/short", "{}", "FETCH the answer broke off"),
        ("/odd", "{}", "FETCH 127.0.0.1: it did not answer"),
        ("/json", "{ as: 'json' }", "FETCH the answer is no JSON"),
    ] {
        let page = says(
            &store,
            &[port],
            &format!("return shop.fetch('http://127.0.0.1:{port}{path}', {options}).body;"),
        )
        .await;
        assert!(page.starts_with(words), "{path}: {page}");
    }
    let code = format!("for (let i = 0; i < 11; i++) shop.fetch('http://127.0.0.1:{port}/fine');");
    put_unit(
        &store,
        "home",
        &format!("export function main() {{ try {{ {code} }} catch {{ return 'caught'; }} }}"),
        &json!({"network": [format!("127.0.0.1:{port}")]}).to_string(),
    );
    assert_eq!(home(&store).await.0, 500);
    assert!(log(&store).pop().unwrap()["error"].as_str().unwrap().contains("over the limit: fetches"));
    assert_eq!(server.asked().iter().filter(|asked| asked.starts_with("GET /fine ")).count(), 10);
}
