//! `store check-books` and `store reindex`, beside a running engine, and killed in the middle.

use std::time::{Duration, Instant};

use crate::setup::store;
use crate::store_contents::{command, done, finish};

#[test]
fn what_does_not_agree_is_named_and_nothing_is_mended() {
    let store = store();
    let _engine = store.serve(0).unwrap();
    let said = done(&store, "check-books", &[]);
    assert!(said.err.contains("checks: everything agrees."), "{}", said.err);
    store.sql("update stock set on_hand = on_hand + 1 where id in (select min(id) from stock)").unwrap();
    store.sql("update promotions set used = used + 2 where id in (select max(id) from promotions)").unwrap();
    let said = finish(&store, "check-books", &[]);
    assert_eq!(said.code, 1, "{}", said.err);
    let out = said.out.as_str();
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(
        out.starts_with("1 of `stock` not so: what lies in a location is the sum of what came and went (id "),
        "{out}"
    );
    assert!(out.contains("how often a promotion was used"), "{out}");
    assert_eq!(finish(&store, "check-books", &[]).out, said.out);
}

#[test]
fn lists_are_made_anew_by_whoever_goes_on() {
    let store = store();
    let sum = "select count(*) || ' ' || sum(price) || ' ' || sum(product_id) from listing";
    let kept = store.cell(sum).unwrap();
    store.sql("delete from listing where product_id % 3 = 0; update listing set price = 1").unwrap();
    assert_ne!(store.cell(sum).unwrap(), kept);
    let said = done(&store, "reindex", &[]);
    assert!(said.out.lines().any(|line| line.starts_with("listing ")), "{}", said.out);
    assert_eq!(store.cell(sum).unwrap(), kept);
    // Killed as soon as it has begun; an engine that starts makes the rest.
    store.sql("delete from listing where product_id % 3 = 0; update listing set price = 1").unwrap();
    let mut child = command(&store, "reindex", &[]).spawn().unwrap();
    let since = Instant::now();
    while store.cell("select count(*) from dirty").unwrap() == "0"
        && store.cell(sum).unwrap() != kept
        && since.elapsed() < Duration::from_secs(60)
    {}
    child.kill().unwrap();
    child.wait().unwrap();
    let _engine = store.serve(0).unwrap();
    while store.cell(sum).unwrap() != kept {
        assert!(since.elapsed() < Duration::from_secs(120), "the engine did not go on");
    }
}
