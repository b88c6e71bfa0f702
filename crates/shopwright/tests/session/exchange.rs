//! `store export` and `store import`: the sample shop goes out and comes back as it is, and what is wrong is told.

use std::fs;

use crate::setup::store;
use crate::store_contents::{done, finish, refused};

#[test]
fn the_sample_shop_goes_out_and_comes_back_unchanged() {
    let store = store();
    let kept = "select count(*) || ' ' || sum(version) from products";
    let before = store.cell(kept).unwrap();
    for format in ["shopify", "woocommerce"] {
        let file = store.folder().join(format!("{format}.csv"));
        let file = file.to_str().unwrap();
        let said = done(&store, "export", &["--format", format, "--to", file]);
        assert!(said.err.contains("200 products"), "{}", said.err);
        let said = done(&store, "import", &[file, "--publish"]);
        let counts: Vec<&str> = said.out.lines().filter(|line| !line.starts_with("rows")).collect();
        assert_eq!(counts, ["as they were               200"], "{format}: {}", said.err);
        assert_eq!(store.cell(kept).unwrap(), before);
    }
}

#[test]
fn a_table_that_cannot_be_taken_is_refused_with_line_and_column() {
    let store = store();
    let file = store.folder().join("wrong.csv");
    fs::write(&file, "Handle,Title,Variant SKU,Variant Price\nnew-tea,New tea,NEW-1,dear\n").unwrap();
    let file = file.to_str().unwrap();
    let words = "line 2, column `Variant Price`: `dear` is no amount of money";
    refused(&store, "import", &[file], words);
    assert_eq!(store.cell("select count(*) from variants where sku = 'NEW-1'").unwrap(), "0");
    refused(&store, "export", &["--format", "shopify", "--to", "/"], "is no name of a file");
}

#[test]
fn a_price_that_jumps_is_taken_only_with_the_token_of_a_look_that_still_holds() {
    let store = store();
    let price = "select amount from prices where variant_id = (select id from variants where sku = 'JUMP-1')";
    let file = store.folder().join("prices.csv");
    let path = file.to_str().unwrap();
    let table = |amount: &str, stock: u32| {
        let head = "Handle,Title,Variant SKU,Variant Price,Variant Inventory Qty";
        fs::write(&file, format!("{head}\njump-tea,Jump tea,JUMP-1,{amount},{stock}\n")).unwrap();
    };
    table("19.90", 5);
    done(&store, "import", &[path]);
    assert_eq!(store.cell(price).unwrap(), "1990");
    // Within what may be taken unseen, and as far as somebody says.
    table("25.00", 5);
    done(&store, "import", &[path]);
    table("26.00", 5);
    refused(&store, "import", &[path, "--jump", "2"], "`JUMP-1`: price €25.00");
    assert_eq!(store.cell(price).unwrap(), "2500");
    // A lost sign of decimals.
    table("2600", 7);
    refused(&store, "import", &[path], "line 2, `JUMP-1`: price €25.00");
    let token = |rest: &[&str]| {
        let mut words = vec![path, "--check"];
        words.extend(rest);
        let said = done(&store, "import", &words);
        let line = said.out.lines().find(|line| line.starts_with("token")).unwrap().to_owned();
        (line.split_whitespace().nth(1).unwrap().to_owned(), said.err)
    };
    let (first, said) = token(&[]);
    assert!(said.contains("€25.00 -> €2,600.00"), "{said}");
    assert_eq!(store.cell(price).unwrap(), "2500", "a look changes nothing");
    assert_eq!(token(&[]).0, first, "two looks at the same are the same");
    assert_ne!(token(&["--publish"]).0, first, "taken in another way");
    // Somebody else sold, or set a price, or the table is another one since.
    let stale = "is not what the token was told for";
    store.sql("update prices set amount = 2501 where amount = 2500").unwrap();
    refused(&store, "import", &[path, "--token", &first], stale);
    store.sql("update prices set amount = 2500 where amount = 2501").unwrap();
    table("2600", 8);
    refused(&store, "import", &[path, "--token", &first], stale);
    table("2600", 7);
    assert_eq!(finish(&store, "import", &[path, "--token", "0"]).code, 1);
    assert_eq!(store.cell(price).unwrap(), "2500");
    done(&store, "import", &[path, "--token", &first]);
    assert_eq!(store.cell(price).unwrap(), "260000");
    refused(&store, "import", &[path, "--token", &first], stale);
}
