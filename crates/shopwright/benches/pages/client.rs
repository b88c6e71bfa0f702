//! A load client: kept connections, requests as browsers send them, answers as they come.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A kept connection.
pub struct Line {
    address: SocketAddr,
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    /// The head, in small letters but for values.
    pub head: String,
    /// The body as it came over the line, in parts put together.
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The values of a header.
    pub fn header<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let name = format!("{name}: ");
        self.head.lines().filter_map(move |line| {
            let (begin, value) = line.split_at_checked(name.len())?;
            begin.eq_ignore_ascii_case(&name).then_some(value)
        })
    }
}

impl Line {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { address, stream, read: Vec::with_capacity(1 << 16) }
    }

    /// A page, packed as for a browser.
    pub async fn get(&mut self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: {}\r\naccept-encoding: gzip\r\n\r\n", self.address))
            .await
    }

    /// A page as text.
    pub async fn text(&mut self, path: &str) -> String {
        let answer = self.ask(&format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text()
    }

    /// A page, or a form sent, with a visitor's cookies.
    pub async fn visit(&mut self, path: &str, cookies: &str, form: Option<&str>) -> Answer {
        let cookies = if cookies.is_empty() { String::new() } else { format!("cookie: {cookies}\r\n") };
        let method = if form.is_some() { "POST" } else { "GET" };
        let form = form.unwrap_or_default();
        let kind = "content-type: application/x-www-form-urlencoded";
        let (host, length) = (self.address, form.len());
        self.ask(&format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\n{kind}\r\ncontent-length: {length}\r\n{cookies}\r\n{form}"
        ))
        .await
    }

    async fn ask(&mut self, request: &str) -> Answer {
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.read.clear();
        let end = self.fill_to(b"\r\n\r\n", 0).await;
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        let begin = end + 4;
        let length = answer.header("content-length").next().map(|text| text.parse::<usize>().unwrap());
        let is_chunked = answer.header("transfer-encoding").next().is_some();
        match length {
            Some(length) => {
                self.fill(begin + length).await;
                answer.body = self.read[begin..begin + length].to_vec();
            }
            None if is_chunked => answer.body = self.chunks(begin).await,
            None => {}
        }
        answer
    }

    async fn chunks(&mut self, mut at: usize) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let end = self.fill_to(b"\r\n", at).await;
            let length = std::str::from_utf8(&self.read[at..end]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            let begin = end + 2;
            self.fill(begin + length + 2).await;
            if length == 0 {
                return body;
            }
            body.extend_from_slice(&self.read[begin..begin + length]);
            at = begin + length + 2;
        }
    }

    async fn fill(&mut self, length: usize) {
        while self.read.len() < length {
            assert!(self.stream.read_buf(&mut self.read).await.unwrap() > 0, "the line was closed");
        }
    }

    async fn fill_to(&mut self, mark: &[u8], from: usize) -> usize {
        loop {
            if let Some(at) = self.read[from..].windows(mark.len()).position(|part| part == mark) {
                return from + at;
            }
            self.fill(self.read.len() + 1).await;
        }
    }
}

/// Times of one thing that was done again and again.
#[derive(Default)]
pub struct Times {
    rounds: Vec<Vec<Duration>>,
}

impl Times {
    pub fn add(&mut self, round: Vec<Duration>) {
        self.rounds.push(round);
    }

    /// A share of each round's times is not longer; the median of the rounds, in milliseconds.
    pub fn within(&self, share: f64) -> f64 {
        let of = |round: &Vec<Duration>| {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            sorted[((sorted.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0
        };
        median(self.rounds.iter().map(of).collect())
    }

    pub fn cells(&self) -> String {
        format!("{:.2} | {:.2}", self.within(0.5), self.within(0.99))
    }
}

/// The middle one.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// One page, again and again on one line; each answer must be there.
pub async fn in_a_row(line: &mut Line, path: &str, rounds: usize, times: usize) -> Times {
    let mut all = Times::default();
    for _ in 0..rounds {
        let mut round = Vec::with_capacity(times);
        for _ in 0..times {
            let asked = Instant::now();
            let answer = line.get(path).await;
            round.push(asked.elapsed());
            assert_eq!(answer.status, 200, "{path}");
        }
        all.add(round);
    }
    all
}

/// How fast pages come.
pub struct Rate {
    /// Pages a second.
    pub pages: f64,
    /// Processor time of the server for one, in milliseconds.
    pub work: f64,
}

/// How many pages a second many clients get, each one page after the other, and what they cost a server whose
/// processor time `worked` tells; the medians of the rounds.
pub async fn rate(
    address: SocketAddr,
    path: &str,
    (clients, rounds, time): (usize, usize, Duration),
    worked: impl Fn() -> f64,
) -> Rate {
    let (mut rates, mut works) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let before = worked();
        let begin = Instant::now();
        let work: Vec<_> = (0..clients)
            .map(|_| {
                let path = path.to_owned();
                tokio::spawn(async move {
                    let mut line = Line::open(address).await;
                    let mut done = 0_u32;
                    while begin.elapsed() < time {
                        assert_eq!(line.get(&path).await.status, 200, "{path}");
                        done += 1;
                    }
                    done
                })
            })
            .collect();
        let mut done = 0;
        for client in work {
            done += client.await.unwrap();
        }
        rates.push(f64::from(done) / begin.elapsed().as_secs_f64());
        works.push((worked() - before) / f64::from(done));
    }
    Rate { pages: median(rates), work: median(works) }
}
