//! `store export` and `store import`: the sample shop goes out and comes back as it is, and what is wrong is told.

use std::fs;

use crate::setup::store;
use crate::store_contents::{done, refused};

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
