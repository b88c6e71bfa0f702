//! Many clients over two nodes, one of which is killed again and again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Engine, TestStore};

use crate::clients::{Books, Server, step};
use crate::direct::Direct;
use crate::setup::{Dice, Nodes, ask, fixture, revive};

/// Clients that are real MCP servers, and clients past them.
const SERVERS: usize = 8;
const DIRECT: usize = 24;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// `CHAOS_SECONDS=60 CHAOS_KILLS=20` for the long one, `CHAOS_SEED=…` to draw the same again.
#[test]
fn with_nodes_killed_no_write_is_lost_or_done_twice_and_no_ticket_ends() {
    let Some(fixture) = fixture() else { return };
    let seed = setting("CHAOS_SEED", u64::from(std::process::id()));
    let (length, kills) = (Duration::from_secs(setting("CHAOS_SECONDS", 10)), setting("CHAOS_KILLS", 4));
    let store = TestStore::new(fixture).unwrap();
    let mut nodes = Nodes::start(&store).unwrap();
    let people = store.people().unwrap();
    let over = AtomicBool::new(false);
    let tickets = Mutex::new(Vec::new());
    let url = nodes.proxy.url.clone();
    let client = |number: usize| {
        let mut dice = Dice::new(seed + 1 + number as u64);
        let mut books = Books::default();
        let name = format!("c{number}");
        if number < SERVERS {
            let mut server = Server::open(&mut store.mcp_command(), &name, &mut books).unwrap();
            while !over.load(Ordering::Relaxed) {
                step(&mut server, &mut books, &name, &mut dice)
                    .unwrap_or_else(|error| panic!("{name}: {error:#}"));
            }
        } else {
            let login = ["admin", "irina"][number % 2];
            let mut direct = Direct::open(&url, &name, login, &people[login], &mut books).unwrap();
            while !over.load(Ordering::Relaxed) {
                step(&mut direct, &mut books, &name, &mut dice)
                    .unwrap_or_else(|error| panic!("{name}: {error:#}"));
            }
            tickets.lock().unwrap().extend(direct.tickets);
        }
        books
    };
    let (books, longest) = thread::scope(|scope| {
        let clients: Vec<_> =
            (0..SERVERS + DIRECT).map(|number| scope.spawn(move || client(number))).collect();
        let killed = scope.spawn(|| {
            // Whatever happens to the killer, the clients end.
            let _end = End(&over);
            kill(&store, &mut nodes.nodes, &mut Dice::new(seed), length, kills)
        });
        let books: Vec<Books> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        (books, killed.join().unwrap())
    });
    let tickets = tickets.into_inner().unwrap();
    for (number, ticket) in tickets.iter().enumerate() {
        let answer = ask(&nodes.nodes[number % 2].url, ticket, "AGENT_MEMORY_LIST", &json!({})).unwrap();
        assert_eq!(answer["ok"], json!(true), "a ticket was lost: {answer}");
    }
    let written = compare(&store, &books);
    let sum = |all: &dyn Fn(&Books) -> &BTreeMap<String, usize>| {
        let mut sum = BTreeMap::<String, usize>::new();
        for (what, count) in books.iter().flat_map(all) {
            *sum.entry(what.clone()).or_default() += count;
        }
        sum
    };
    let done = sum(&|books| &books.done);
    // Tools for files and pages work with the root of one node; `engine/tests/all/files.rs` and `units_door.rs` have them.
    let of_files = [
        "engine_unit_",
        "engine_html_",
        "engine_history_",
        "engine_map_",
        "engine_search",
        "engine_whole_",
        "engine_static_",
        "engine_image_",
        "engine_template_",
        "engine_files_",
        "engine_dev_",
        "shop_",
        // Their commands are units.
        "tool_",
    ];
    let of_rows = tools::ALL.iter().filter(|tool| !of_files.iter().any(|begin| tool.name.starts_with(begin)));
    for tool in of_rows {
        assert!(done.contains_key(tool.name), "no client ever called {}: add it to `step`", tool.name);
    }
    println!(
        "seed {seed}: {kills} kills in {length:?}, longest pause of a node {longest:?}; requests per node {:?}; \
         {written} writes and {} tickets compared\ndone: {:?}\nrefused and repeated: {:?}",
        nodes.proxy.took(),
        tickets.len(),
        done,
        sum(&|books| &books.refused),
    );
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Kills a node at each of so many random moments and starts it again; gives the longest time one was away.
fn kill(
    store: &TestStore<'_>,
    nodes: &mut [Engine],
    dice: &mut Dice,
    length: Duration,
    kills: u64,
) -> Duration {
    let since = Instant::now();
    let millis = usize::try_from(length.as_millis()).unwrap();
    let mut moments: Vec<Duration> =
        (0..kills).map(|_| Duration::from_millis(dice.roll(millis) as u64)).collect();
    moments.sort();
    moments.push(length);
    let mut longest = Duration::ZERO;
    for (number, moment) in moments.into_iter().enumerate() {
        while since.elapsed() < moment {
            thread::park_timeout(moment.saturating_sub(since.elapsed()));
        }
        if number as u64 == kills {
            break;
        }
        let node = &mut nodes[dice.roll(2)];
        node.running.kill();
        let away = Instant::now();
        *node = revive(store, node.port).unwrap();
        longest = longest.max(away.elapsed());
    }
    longest
}

/// The clients' books against the database: rows and journal. Gives the number of writes compared.
fn compare(store: &TestStore<'_>, books: &[Books]) -> usize {
    let rows = store.query("select id, name, body from notes where name like 'chaos %' order by id").unwrap();
    let there: BTreeMap<i64, (String, String)> =
        rows.into_iter().map(|row| (row[0].parse().unwrap(), (row[1].clone(), row[2].clone()))).collect();
    let notes = || books.iter().flat_map(|books| &books.notes);
    let wanted: BTreeMap<i64, (String, String)> = notes()
        .filter(|(_, note)| !note.is_removed)
        .map(|(id, note)| (*id, (note.name.clone(), note.body())))
        .collect();
    assert_eq!(there, wanted, "rows against what was answered");
    let sql = "select c.row_id, sum(case when c.before is null then 1 else 0 end),
        sum(case when c.before is not null and c.after is not null then 1 else 0 end),
        sum(case when c.after is null then 1 else 0 end)
        from journal_changes c join journal j on j.id = c.journal_id
        where c.table_name = 'notes' and j.actor = 'agent'
        group by c.row_id order by c.row_id";
    let journal: BTreeMap<i64, [usize; 3]> = store
        .query(sql)
        .unwrap()
        .into_iter()
        .map(|row| (row[0].parse().unwrap(), [1, 2, 3].map(|at: usize| row[at].parse().unwrap())))
        .collect();
    let written: BTreeMap<i64, [usize; 3]> =
        notes().map(|(id, note)| (*id, [1, note.version, usize::from(note.is_removed)])).collect();
    assert_eq!(journal, written, "made, changed, removed: the journal against what was answered");
    let twice =
        store.query("select user_id, key from journal where key is not null group by user_id, key having count(*) > 1").unwrap();
    assert_eq!(twice, Vec::<Vec<String>>::new(), "keys that were carried out twice");
    written.values().flatten().sum()
}
