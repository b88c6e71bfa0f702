//! A proxy that sends each request to the next node, as a web server in front of several does.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::faulty_proxy::read_request;

/// How long a node may keep an answer back.
const LONGEST: Duration = Duration::from_secs(60);

/// The proxy. A node that takes no connection is passed over; what a node began and did not end stays so.
pub struct RoundRobin {
    /// Its address, without a slash at its end.
    pub url: String,
    state: Arc<State>,
}

struct State {
    nodes: Vec<String>,
    next: AtomicUsize,
    /// Requests that each node took.
    took: Vec<AtomicUsize>,
    closed: AtomicBool,
}

impl RoundRobin {
    /// Stands in front of the nodes at these addresses.
    pub fn start(nodes: &[&str]) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(State {
            nodes: nodes.iter().map(|node| node.trim_start_matches("http://").to_owned()).collect(),
            next: AtomicUsize::new(0),
            took: nodes.iter().map(|_| AtomicUsize::new(0)).collect(),
            closed: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.closed.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Ok(Self { url, state })
    }

    /// How many requests each node took.
    pub fn took(&self) -> Vec<usize> {
        self.state.took.iter().map(|took| took.load(Ordering::Relaxed)).collect()
    }
}

impl Drop for RoundRobin {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::Relaxed);
        // Wakes the listener, so that its thread ends.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

impl State {
    /// One request a line; its answer closes it.
    fn serve(&self, mut client: TcpStream) {
        let _ = client.set_read_timeout(Some(LONGEST));
        let Some(request) = read_request(&mut client) else { return };
        match self.node() {
            Some(node) => {
                let _ = pass(&request, &mut client, node);
            }
            None => {
                let none = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = client.write_all(none.as_bytes());
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    }

    /// A line to the node whose turn it is, or to the first one after it that listens.
    fn node(&self) -> Option<TcpStream> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        (turn..turn + self.nodes.len()).map(|at| at % self.nodes.len()).find_map(|at| {
            let node = TcpStream::connect(&self.nodes[at]).ok()?;
            self.took[at].fetch_add(1, Ordering::Relaxed);
            Some(node)
        })
    }
}

/// The bytes of the answer go on as they come: where they break off, the client sees the same.
fn pass(request: &[u8], client: &mut TcpStream, mut node: TcpStream) -> Result<()> {
    node.set_read_timeout(Some(LONGEST))?;
    let line = request.windows(2).position(|pair| pair == b"\r\n").map_or(0, |at| at + 2);
    let from = client.peer_addr()?.ip();
    node.write_all(&request[..line])?;
    node.write_all(format!("x-forwarded-for: {from}\r\nconnection: close\r\n").as_bytes())?;
    node.write_all(&request[line..])?;
    let mut part = [0; 16 * 1024];
    loop {
        match node.read(&mut part)? {
            0 => return Ok(()),
            count => client.write_all(&part[..count])?,
        }
    }
}
