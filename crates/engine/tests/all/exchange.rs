//! Tables of other shops: taken whole or not at all, taken again without a change, and given as they were taken.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use db::exchange as rows_of;
use engine::exchange::{ImportError, Layout, Options, Report, export, import};
use jiff::Timestamp;

use crate::client::get;
use crate::goods::{lay_files, number, write};
use crate::test_store::{Base, NOON, TestStore, on_both};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/exchange").join(name)
}

fn noon() -> Timestamp {
    NOON.parse().unwrap()
}

fn take(store: &TestStore, file: &Path, options: &Options) -> Result<Report, ImportError> {
    store.db.with(|db| import(db, store.root(), file, options, noon(), &mut |_, _| ControlFlow::Continue(())))
}

fn given(store: &TestStore, layout: Layout) -> Vec<u8> {
    let mut out = Vec::new();
    let watch = &mut |_, _| ControlFlow::Continue(());
    store.db.with(|db| export(db, store.root(), layout, &mut out, watch)).unwrap();
    out
}

/// A file of a test.
fn file(store: &TestStore, name: &str, bytes: &[u8]) -> PathBuf {
    let path = store.root().join("core/tmp").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

/// A folder of pictures with these names, each of another colour.
fn pictures(store: &TestStore, names: &[&str]) -> PathBuf {
    let folder = store.root().join("core/tmp/pictures");
    fs::create_dir_all(&folder).unwrap();
    for (at, name) in names.iter().enumerate() {
        let colour = [u8::try_from(at * 40).unwrap(), 90, 160];
        let picture = image::RgbImage::from_pixel(8, 6, image::Rgb(colour));
        picture.save_with_format(folder.join(name), image::ImageFormat::Png).unwrap();
    }
    folder
}

fn count(store: &TestStore, sql: &str) -> i64 {
    write(store, |tx| number(tx, &format!("select ({sql}) as id")))
}

/// Everything that an import may touch, as text.
fn everything(store: &TestStore) -> String {
    write(store, |tx| {
        let mut all = String::new();
        for product in rows_of::products_after(tx, 0, 1000)? {
            all.push_str(&format!("{product:?}\n"));
            let list = rows_of::main_list(tx, "EUR")?.unwrap();
            let location = rows_of::main_location(tx)?.unwrap();
            for piece in rows_of::pieces(tx, product.id, list, location)? {
                all.push_str(&format!("  {piece:?} {:?}\n", rows_of::sale(tx, list, piece.id)?));
            }
            all.push_str(&format!(
                "  {:?} {:?} {:?}\n",
                rows_of::options_of(tx, product.id)?,
                rows_of::tags_of(tx, product.id)?,
                db::files::of(tx, "products", product.id)?
            ));
            for category in rows_of::categories_of(tx, product.id)? {
                all.push_str(&format!("  {:?}\n", rows_of::category_path(tx, category)?));
            }
        }
        Ok(all)
    })
}

/// A table without the numbers of products in the addresses of their pictures.
fn without_numbers(table: Vec<u8>) -> String {
    let text = String::from_utf8(table).unwrap();
    let mut parts = text.split("/files/products/");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    out
}

fn lines(report: &Report) -> Vec<String> {
    report.problems.iter().map(ToString::to_string).collect()
}

on_both! {
    async fn a_table_of_shopify_comes_in_and_goes_out_as_it_was(store: TestStore) {
        lay_files(store);
        let folder = pictures(store, &["shirt-front.png", "shirt back.png"]);
        let options = Options { publishes: true, pictures: Some(folder), ..Options::default() };
        // A look changes nothing.
        let look = take(store, &sample("shopify.csv"), &Options { is_check: true, ..options.clone() }).unwrap();
        assert_eq!((look.rows, look.new, look.pictures, look.missing_pictures), (7, 3, 2, 1), "{look:?}");
        assert_eq!(count(store, "select count(*) from products"), 0);
        assert_eq!(count(store, "select count(*) from imports"), 0);

        let report = take(store, &sample("shopify.csv"), &options).unwrap();
        assert_eq!(report, look);
        assert_eq!(lines(&report), [""; 0]);
        let shirt = write(store, |tx| {
            let id = number(tx, "select elem_id as id from slugs where path = 'linen-shirt'")?;
            rows_of::product(tx, id).map(Option::unwrap)
        });
        assert_eq!((shirt.state.as_str(), shirt.brand.as_deref()), ("kShown", Some("Harrow & Vale")));
        assert!(shirt.text.contains("<strong>washed linen</strong>,\nsoft") && !shirt.text.contains("alert"), "{}", shirt.text);
        let path = write(store, |tx| rows_of::category_path(tx, shirt.main_category_id.unwrap()));
        assert_eq!(path, ["Apparel & Accessories", "Clothing", "Shirts & Tops"]);
        let text = everything(store);
        for part in [
            "sku: Some(\"LS-M-BL\")", "amount: Some(6450)", "compare_at: Some(7900)", "on_hand: 12", "weight: Some(240)",
            "cost: Some(2140)", "sku: Some(\"90.750\")", "backorder: None", "value_name: Some(\"Ink blue\")", "name: \"new in\"",
            "alt: \"Shirt, back\"", "state: \"kDraft\"",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(count(store, "select count(*) from attribute_values where text_value = '100% linen'"), 1);
        write(store, |tx| { while db::listing::flush(tx, noon())? > 0 {} Ok(()) });
        let page = get(store, "/linen-shirt", "").await.text();
        assert!(page.contains("<h1>Linen Shirt</h1>") && page.contains("79.00"), "{page}");

        // The same again: nothing.
        let again = take(store, &sample("shopify.csv"), &options).unwrap();
        assert_eq!((again.new, again.changed, again.same, again.pictures), (0, 0, 3, 0), "{again:?}");
        assert_eq!(everything(store), text);
        assert_eq!(count(store, "select count(*) from imports"), 1);

        // Out, in again: nothing; into another store, and out: the same table.
        let out = given(store, Layout::Shopify);
        let table = file(store, "out.csv", &out);
        let own = take(store, &table, &options).unwrap();
        assert_eq!((own.new, own.changed, own.problem_count), (0, 0, 0), "{own:?}\n{}", String::from_utf8_lossy(&out));
        assert_eq!(everything(store), text);
        let other = TestStore::on(Base::Sqlite).await.unwrap();
        let moved = Options { pictures: Some(store.root().join("files")), ..options };
        let report = take(&other, &table, &moved).unwrap();
        assert_eq!((report.new, report.pictures, report.problem_count), (3, 2, 0), "{report:?}");
        assert_eq!(without_numbers(given(&other, Layout::Shopify)), without_numbers(out));
    }

    async fn a_table_of_woocommerce_comes_in_and_goes_out_as_it_was(store: TestStore) {
        let folder = pictures(store, &["hoodie-1.png", "hoodie-2.png", "cap.png"]);
        let options = Options { publishes: true, pictures: Some(folder), ..Options::default() };
        let report = take(store, &sample("woocommerce.csv"), &options).unwrap();
        assert_eq!(lines(&report), [""; 0]);
        assert_eq!((report.rows, report.new, report.pictures), (5, 3, 3), "{report:?}");
        let text = everything(store);
        for part in [
            "name: \"Kapuzenpulli\"", "<p>Aus <b>Bio-Baumwolle</b>.</p>\\n<p>Größe", "external_id: Some(\"woo:44\")",
            "sku: Some(\"woo-hoodie-blue\")", "value_name: Some(\"Grün\")", "[\"Kleidung\", \"Pullover\"]", "[\"Neu, beliebt\"]",
            "weight: Some(85)", "width: Some(185)", "amount: Some(1250), compare_at: Some(1600)", "name: \"Album; digital\"",
            "amount: Some(101500)", "Sale { amount: 99990, valid_from: Some(\"2026-12-01T00:00:00.000000Z\"), valid_until: Some(\"2026-12-25T00:00:00.000000Z\") }",
            "brand: Some(\"Nordlicht\")",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // What variations differ in is an option, what they do not is a property; programs' own are nobody's.
        assert_eq!(count(store, "select count(*) from attributes where name = 'Farbe'"), 0);
        assert_eq!(count(store, "select count(*) from attribute_values where text_value = 'Bio-Baumwolle'"), 1);
        assert_eq!(count(store, "select count(*) from attributes where name like '%internal%'"), 0);
        let again = take(store, &sample("woocommerce.csv"), &options).unwrap();
        assert_eq!((again.new, again.changed, again.same), (0, 0, 3), "{again:?}");
        assert_eq!(everything(store), text);

        let out = given(store, Layout::WooCommerce);
        let table = file(store, "out.csv", &out);
        let own = take(store, &table, &options).unwrap();
        assert_eq!((own.new, own.changed, lines(&own)), (0, 0, vec![]), "{own:?}\n{}", String::from_utf8_lossy(&out));
        assert_eq!(everything(store), text);
        let other = TestStore::on(Base::Sqlite).await.unwrap();
        let moved = Options { pictures: Some(store.root().join("files")), ..options };
        let report = take(&other, &table, &moved).unwrap();
        assert_eq!((report.new, report.pictures, lines(&report)), (3, 3, vec![]), "{report:?}");
        assert_eq!(without_numbers(given(&other, Layout::WooCommerce)), without_numbers(out));
    }

    async fn a_suppliers_price_list_finds_variants_and_keeps_the_choice(store: TestStore) {
        take(store, &sample("shopify.csv"), &Options::default()).unwrap();
        let options = Options { supplier: Some("dacha".to_owned()), ..Options::default() };
        assert!(matches!(take(store, &sample("prices-1251.csv"), &Options::default()), Err(ImportError::NoSupplier)));
        let report = take(store, &sample("prices-1251.csv"), &options).unwrap();
        assert_eq!((report.rows, report.new, report.unmatched, lines(&report)), (2, 2, 1, vec![]), "{report:?}");
        let mug = count(store, "select id from variants where sku = '90.750'");
        assert_eq!(count(store, "select variant_id from supplier_items where article = 'А-1001'"), mug);
        assert_eq!(count(store, "select cost from variants where sku = '90.750'"), 65_050);
        assert_eq!(count(store, "select quantity from supplier_items where article = 'А-1001'"), 10);
        assert_eq!(count(store, "select cost from supplier_items where name = 'Чайник «Дачный», 2 л'"), 129_000);
        // Somebody says which variant the kettle is; it stays so.
        write(store, |tx| tx.run("update supplier_items set variant_id = (select id from variants where sku = 'LS-S-WH')
            where article = 'А-1002'", &[]).map(|_| ()));
        let again = take(store, &sample("prices-1251.csv"), &options).unwrap();
        assert_eq!((again.new, again.changed, again.same, again.unmatched), (0, 0, 2, 0), "{again:?}");
    }

    async fn whatever_is_wrong_is_named_and_nothing_is_changed(store: TestStore) {
        let table = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty\n\
            good,Good,,,G-1,5.00,1\n\
            a/b,Slash,,,S-1,1.00,1\n\
            dear,Dear,,,D-1,\"1,234\",1\n\
            odd,Odd,,,4.6E+12,free,many\n\
            nameless,,,,N-1,2.00,1\n\
            ,Keyless,,,K-1,2.00,1\n\
            second,Second,,,g-1,2.00,1\n\
            sized,Sized,Size,S,Z-1,2.00,1\n\
            sized,,,,Z-2,2.00,1,surplus\n";
        let path = file(store, "wrong.csv", table.as_bytes());
        let report = take(store, &path, &Options::default()).unwrap();
        let wanted = [
            "line 3, column `Handle`: `a/b` cannot be part of an address",
            "line 4, column `Variant Price`: `1,234` can be read in two ways; say with --decimal which sign parts the decimals",
            "line 5, column `Variant SKU`: `4.6E+12` is a code that a spreadsheet made a number of",
            "line 5, column `Variant Price`: `free` is no amount of money",
            "line 5, column `Variant Inventory Qty`: `many` is no number",
            "line 6, column `Name`: `` a new product needs a name",
            "line 8, column `SKU`: `g-1` belongs to another product",
            "line 10, column `Variant Inventory Qty`: `surplus` has more cells than the header row",
        ];
        let mut told = lines(&report);
        told.sort_by_key(|line| line[5..line.find(',').unwrap()].parse::<u64>().unwrap());
        assert_eq!(told, wanted);
        assert_eq!((report.keyless, report.problem_count), (1, 8));
        assert_eq!(count(store, "select count(*) from products"), 0);
        // What was wrong is kept, to be looked at.
        assert_eq!(count(store, "select count(*) from imports where state = 'kFailed'"), 1);
        assert_eq!(count(store, "select count(*) from import_rows where code = 'mangled_code' and line = 5"), 1);
        // Somebody who stops it has changed nothing, either.
        let stopped = store.db.with(|db| {
            let watch = &mut |_, _| ControlFlow::Break(());
            import(db, store.root(), &sample("shopify.csv"), &Options::default(), noon(), watch)
        });
        assert!(matches!(stopped, Err(ImportError::Stopped)));
        assert_eq!(count(store, "select count(*) from products"), 0);
    }

    async fn letters_and_signs_of_every_program_are_read(store: TestStore) {
        let rows = "Handle\u{1}Title\u{1}Variant SKU\u{1}Variant Price\r\nzont\u{1}Зонт \u{1}Z-1\u{1}1290,50\r\n";
        let windows: Vec<u8> = rows.chars().map(|letter| match letter {
            'А'..='я' => u8::try_from(u32::from(letter) - u32::from('А') + 0xC0).unwrap(),
            other => u8::try_from(u32::from(other)).unwrap(),
        }).collect();
        let wide: Vec<u8> = rows.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked: Vec<u8> = [0xFE, 0xFF].into_iter().chain(rows.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        let with_mark = [b"\xEF\xBB\xBF", rows.as_bytes()].concat();
        let old_mac = rows.replace("\r\n", "\r");
        let tables = [rows.as_bytes().to_vec(), windows, wide, marked, with_mark, old_mac.into_bytes()];
        for (at, table) in tables.iter().enumerate() {
            for sign in [b';', b'\t', b'|'] {
                let table: Vec<u8> = table.iter().map(|byte| if *byte == 1 { sign } else { *byte }).collect();
                let path = file(store, "letters.csv", &table);
                let report = take(store, &path, &Options::default()).unwrap();
                assert_eq!((report.rows, lines(&report)), (1, vec![]), "{at} {sign}");
            }
        }
        assert_eq!(count(store, "select count(*) from products"), 1);
        assert_eq!(count(store, "select count(*) from products where name = 'Зонт'"), 1);
        assert_eq!(count(store, "select max(amount) from prices"), 129_050);
    }

    async fn what_is_no_table_is_refused_in_words(store: TestStore) {
        let large = format!("Handle,Title\nx,\"{}\"\n", "a".repeat((1 << 20) + 1));
        let wide = format!("Handle,Title\n{}\n", ",".repeat(3000));
        let long = format!("Handle,Title\n{}\n", format!("{},", "a".repeat(1 << 19)).repeat(9));
        let cases: [(&[u8], &str); 9] = [
            (b"", "the file is empty"),
            (b"PK\x03\x04rest of it", "that is no CSV file but an archive"),
            (b"\x1f\x8b\x08\0", "that is no CSV file but an archive"),
            (b"Handle,Title\nx,a\0b\n", "the file holds zero bytes"),
            (b"Handle,Title\nx,\"never closed\nat all\n", "line 2: a quoted cell begins here"),
            (b"Colour,Weight\nred,5\n", "the header row is of no known layout"),
            (large.as_bytes(), "line 2: a cell is larger than 1 MiB"),
            (wide.as_bytes(), "line 2: a row has more than 2000 cells"),
            (long.as_bytes(), "line 2: a row is larger than 4 MiB"),
        ];
        for (bytes, words) in cases {
            let path = file(store, "none.csv", bytes);
            let error = take(store, &path, &Options::default()).unwrap_err().to_string();
            assert!(error.starts_with(words), "{words}: {error}");
        }
        let folder = take(store, store.root(), &Options::default()).unwrap_err().to_string();
        assert!(folder.starts_with("that is no file") || folder.starts_with("the file cannot be read"), "{folder}");
        // Pictures come from the folder and from nowhere else, and pictures they are.
        let folder = pictures(store, &["real.png"]);
        fs::write(folder.join("script.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>").unwrap();
        fs::write(folder.join("note.png"), "no picture").unwrap();
        let table = "Handle,Title,Image Src\nx,X,../../../config.json\nx,,/etc/passwd\nx,,https://e.org/a/%2e%2e/config.json\n\
            x,,https://e.org/real.png?v=1\nx,,note.png\nx,,script.svg\n";
        let path = file(store, "pictures.csv", table.as_bytes());
        let report = take(store, &path, &Options { pictures: Some(folder), ..Options::default() }).unwrap();
        assert_eq!((report.pictures, report.missing_pictures), (1, 3), "{report:?}");
        assert_eq!(
            lines(&report),
            ["line 6, column `Image Src`: `note.png` is no picture that is taken",
             "line 7, column `Image Src`: `script.svg` is no picture that is taken"]
        );
    }

    async fn words_that_a_spreadsheet_would_run_go_out_harmless_and_come_back(store: TestStore) {
        let table = "Handle,Title,Variant SKU,Variant Price\nevil,\"=HYPERLINK(\"\"http://e.org\"\")\",+1,3.00\nquiet,'@sum,Q,4.00\n";
        let path = file(store, "evil.csv", table.as_bytes());
        take(store, &path, &Options::default()).unwrap();
        let out = given(store, Layout::Shopify);
        let text = String::from_utf8(out.clone()).unwrap();
        assert!(text.contains("\"'=HYPERLINK(\"\"http://e.org\"\")\"") && text.contains(",'+1,"), "{text}");
        for cell in text.split([',', '\n']) {
            assert!(!cell.trim_matches('"').starts_with(['=', '+', '@']), "{cell}");
        }
        let back = file(store, "back.csv", &out);
        let report = take(store, &back, &Options::default()).unwrap();
        assert_eq!((report.new, report.changed), (0, 0), "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rows_are_read_one_by_one() {
    let store = TestStore::on(Base::Sqlite).await.unwrap();
    let path = store.root().join("many.csv");
    let mut out = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    writeln!(out, "Article;Name;Price").unwrap();
    for at in 0..20_000 {
        writeln!(out, "A-{at};Thing {at};{},50", at % 900).unwrap();
    }
    drop(out);
    let options = Options { supplier: Some("many".to_owned()), ..Options::default() };
    let mut steps = Vec::new();
    let watch = &mut |done, all| {
        steps.push((done, all));
        ControlFlow::Continue(())
    };
    let report = store.db.with(|db| import(db, store.root(), &path, &options, noon(), watch)).unwrap();
    assert_eq!((report.rows, report.new, report.unmatched), (20_000, 20_000, 20_000));
    // The file was read as it was needed.
    let all = fs::metadata(&path).unwrap().len();
    assert!(steps[0].0 < all / 2 && steps.windows(2).all(|two| two[0].0 <= two[1].0), "{:?}", steps[0]);
    assert_eq!(steps.last().unwrap(), &(all, all));
}
