//! A manager's agent works on the sample store's goods: products, variants, import, prices, stock, the tree, brands,
//! attributes, files.

use serde_json::{Value, json};
use testkit::{Client, TestStore};

use crate::setup::store;
use crate::shop_work::{agent, no, run};

fn cell(store: &TestStore<'_>, sql: &str) -> String {
    store.cell(sql).unwrap()
}

fn rows(answer: &Value, table: &str) -> Vec<Value> {
    let file = answer["tables"][table]["file"].as_str().unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn id(answer: &Value) -> i64 {
    answer["detail"]["id"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_product_is_added_changed_shown_hidden_and_found() {
    let store = store();
    let (_trying, mut client) = agent(&store, "irina");
    let client = &mut client;
    let new = json!({"name": "Snow Bud", "sku": "SNOW-1", "price": "12.50", "stock": 7, "brand": "Snow House",
        "category": "Tea > Snow", "attributes": {"Cup note": "honey"}});
    let product = id(&run(client, "PRODUCTS", "CmdAdd", new.clone()));
    let of = |column: &str| cell(&store, &format!("select {column} from products where id = {product}"));
    assert_eq!((of("state"), of("name_folded")), ("kDraft".into(), "snow bud".into()));
    let again = no(client, "PRODUCTS", "CmdAdd", new);
    assert!(again.contains("is there already") && again.contains("CmdChange"), "{again}");
    let found = run(client, "PRODUCTS", "CmdSearch", json!({"text": "snow-1"}));
    assert_eq!(rows(&found, "products")[0]["id"], json!(product));
    let card = run(client, "PRODUCTS", "CmdCard", json!({"id": product}));
    assert_eq!(rows(&card, "prices")[0]["amount"], json!(1250));
    assert_eq!(rows(&card, "variants")[0]["available"], json!(7));
    assert_eq!(card["detail"]["path"], json!("snow-bud"));

    // What is not named stays.
    let changed = run(
        client,
        "PRODUCTS",
        "CmdChange",
        json!({"id": product, "name": "Snow Needle", "path": "snow-needle"}),
    );
    assert!(changed["message"].as_str().unwrap().contains("name, path changed"), "{changed}");
    assert_eq!((of("name"), of("state")), ("Snow Needle".into(), "kDraft".into()));
    let moved = "select state from slugs where entity = 'products' and path = 'snow-bud'";
    assert_eq!(cell(&store, moved), "kMoved");
    assert_eq!(
        cell(
            &store,
            &format!(
                "select b.name from brands b join products p on p.brand_id = b.id where p.id = {product}"
            )
        ),
        "Snow House"
    );
    let clash = cell(
        &store,
        "select path from slugs where entity = 'products' and state = 'kCurrent' and language = 'en' order by id limit 1",
    );
    let problem = no(client, "PRODUCTS", "CmdChange", json!({"id": product, "path": clash}));
    assert!(problem.contains("belongs to another page"), "{problem}");
    let problem = no(client, "PRODUCTS", "CmdChange", json!({"id": product, "brand": 999_999}));
    assert!(problem.contains("brands has no row 999999"), "{problem}");
    assert!(
        no(client, "PRODUCTS", "CmdChange", json!({"id": 999_999, "name": "x"}))
            .contains("CmdList of PRODUCTS")
    );

    run(client, "PRODUCTS", "CmdRestore", json!({"id": product}));
    assert_eq!(of("state"), "kShown");
    let shown = run(client, "PRODUCTS", "CmdHide", json!({"id": [product]}));
    assert_eq!((shown["detail"]["applied"].clone(), of("state")), (json!(false), "kShown".into()));
    run(client, "PRODUCTS", "CmdHide", json!({"id": product, "apply": true}));
    assert_eq!(of("state"), "kArchive");
    assert!(
        no(client, "PRODUCTS", "CmdHide", json!({"id": [product, 999_999], "apply": true}))
            .contains("no product 999999")
    );

    // Variants: options come with the second product; one with the same options changes.
    let shirt = json!({"name": "Apron", "variants": [{"sku": "AP-S", "options": {"Size": "S"}, "price": "20"}, {"sku": "AP-M", "options": {"Size": "M"}, "price": 21.5}]});
    let apron = id(&run(client, "PRODUCTS", "CmdAdd", shirt));
    run(
        client,
        "VARIANTS",
        "CmdAdd",
        json!({"product": apron, "rows": [{"sku": "AP-L", "options": {"Size": "L"}, "price": "23"}]}),
    );
    let problem = no(
        client,
        "VARIANTS",
        "CmdAdd",
        json!({"product": apron, "rows": [{"sku": "AP-X", "options": {"Colour": "red"}}]}),
    );
    assert!(problem.contains("does not fit the options"), "{problem}");
    let list = run(client, "VARIANTS", "CmdList", json!({"product": apron}));
    let variants = rows(&list, "variants");
    assert_eq!(variants.len(), 3);
    let small = &variants[0]["id"];
    run(client, "VARIANTS", "CmdChange", json!({"id": small, "weight": 250, "backorder": -1}));
    let of = |column: &str| cell(&store, &format!("select {column} from variants where id = {small}"));
    assert_eq!(
        (of("weight"), of("coalesce(backorder, -1)"), of("sku")),
        ("250".into(), "-1".into(), "AP-S".into())
    );
    let problem = no(client, "VARIANTS", "CmdChange", json!({"id": small, "sku": "ap-m"}));
    assert!(problem.contains("belongs to another variant"), "{problem}");
    assert!(no(client, "VARIANTS", "CmdChange", json!({"id": small, "gtin": "123"})).contains("GTIN"));
    run(client, "VARIANTS", "CmdRemove", json!({"id": small}));
    assert_eq!(of("count(*)"), "1");
    run(client, "VARIANTS", "CmdRemove", json!({"id": small, "apply": true}));
    assert!(no(client, "VARIANTS", "CmdRemove", json!({"id": small, "apply": true})).contains("no variant"));
    let only = cell(&store, &format!("select id from variants where product_id = {product}"));
    let problem = no(client, "VARIANTS", "CmdRemove", json!({"id": only, "apply": true}));
    assert!(problem.contains("last variant"), "{problem}");
}

#[test]
fn a_suppliers_rows_become_hidden_products_or_nothing() {
    let store = store();
    let (_trying, mut client) = agent(&store, "irina");
    let client = &mut client;
    let good = |n: i64| {
        json!({"external_id": format!("sup-{n}"), "name": format!("Import {n}"), "brand": "North", "category": ["Tea > Imported"],
            "attributes": {"Harvest": "2026"},
            "variants": [{"sku": format!("IM-{n}-50"), "options": {"Weight": "50 g"}, "price": "5.00", "cost": 2.1, "stock": 10},
                         {"sku": format!("IM-{n}-100"), "options": {"Weight": "100 g"}, "price": 9, "compare_at": "9.90", "stock": 3}]})
    };
    let mut list: Vec<Value> = (1..=40).map(good).collect();
    list[29]["variants"][1]["price"] = json!("nine");
    list[34]["colour"] = json!("red");
    let before = store.dump(&["journal", "journal_changes", "calls", "changes"]).unwrap();
    for apply in [false, true] {
        let call = json!({"unit": "PRODUCT_IMPORT", "command": "CmdImport", "params": {"rows": list, "apply": apply}});
        let answer = client.call("tool_run", call).unwrap();
        assert!(answer.refused(), "{}", answer.text());
        let message = answer.data()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("2 mistakes, the first in row 30, price: [nine] is no amount"), "{message}");
        let problems = rows(&answer.data(), "problems");
        assert_eq!((&problems[1]["row"], &problems[1]["column"]), (&json!(35), &json!("colour")));
    }
    assert_eq!(
        store.dump(&["journal", "journal_changes", "calls", "changes"]).unwrap(),
        before,
        "nothing of it stays"
    );

    list[29]["variants"][1]["price"] = json!("9.00");
    list[34].as_object_mut().unwrap().remove("colour");
    list.push(json!({"name": "Nameless"}));
    let count = |client: &mut Client, list: &[Value], apply: bool| {
        let answer = run(client, "PRODUCT_IMPORT", "CmdImport", json!({"rows": list, "apply": apply}));
        let of = |key: &str| answer["detail"][key].as_i64().unwrap();
        (of("new"), of("changed"), of("same"), of("keyless"))
    };
    assert_eq!(count(client, &list, false), (40, 0, 0, 1));
    let imported = "select count(*) from products where external_id like 'sup-%' and state = 'kDraft'";
    assert_eq!(cell(&store, imported), "0");
    assert_eq!(count(client, &list, true), (40, 0, 0, 1));
    assert_eq!(cell(&store, imported), "40");
    assert_eq!(cell(&store, "select count(*) from variants where sku like 'IM-%'"), "80");
    assert_eq!(
        cell(
            &store,
            "select p.amount || ' ' || p.compare_at from prices p join variants v on v.id = p.variant_id where v.sku = 'IM-7-100'"
        ),
        "900 990"
    );
    assert_eq!(
        cell(
            &store,
            "select s.on_hand from stock s join variants v on v.id = s.variant_id where v.sku = 'IM-7-50'"
        ),
        "10"
    );
    assert_eq!(count(client, &list, true), (0, 0, 40, 1), "the same rows again change nothing");
    let part = [
        json!({"external_id": "sup-7", "variants": [{"sku": "IM-7-50", "options": {"Weight": "50 g"}, "stock": 12}]}),
    ];
    assert_eq!(count(client, &part, true), (0, 1, 0, 0));
    assert_eq!(cell(&store, "select name from products where external_id = 'sup-7'"), "Import 7");

    // A price that jumps waits until somebody has seen it.
    let mut jump = json!({"rows": [{"external_id": "sup-8", "variants": [{"sku": "IM-8-50", "options": {"Weight": "50 g"}, "price": "50.00"}]}], "apply": true});
    let waits = no(client, "PRODUCT_IMPORT", "CmdImport", jump.clone());
    assert!(
        waits.contains("1 prices change by more than half, the first in row 1, IM-8-50: 500 becomes 5000"),
        "{waits}"
    );
    let price =
        "select p.amount from prices p join variants v on v.id = p.variant_id where v.sku = 'IM-8-50'";
    assert_eq!(cell(&store, price), "500");
    jump["jumps"] = json!(1);
    run(client, "PRODUCT_IMPORT", "CmdImport", jump);
    assert_eq!(cell(&store, price), "5000");
}

#[test]
fn prices_and_stock_follow_the_stores_rules() {
    let store = store();
    let (_trying, mut client) = agent(&store, "admin");
    let client = &mut client;
    let sales = run(client, "PRODUCTS", "CmdSales", json!({"days": 3650, "limit": 5}));
    let slow: Vec<Value> = rows(&sales, "products").iter().map(|row| row["id"].clone()).collect();
    let sold = |row: &Value| row["sold"].as_i64().unwrap();
    let least = sold(&rows(&sales, "products")[0]);
    let best = run(client, "PRODUCTS", "CmdSales", json!({"days": 3650, "limit": 1, "best": true}));
    assert!(least < sold(&rows(&best, "products")[0]), "{best}");

    let of =
        format!("from prices pr join variants v on v.id = pr.variant_id where v.product_id = {}", slow[0]);
    let price = || {
        cell(&store, &format!("select sum(pr.amount) {of} and v.deleted is null and pr.valid_from is null"))
    };
    let before = price();
    let change = json!({"percent": -10, "product": slow});
    let shown = run(client, "PRICES", "CmdChange", change.clone());
    assert_eq!((shown["detail"]["applied"].clone(), price()), (json!(false), before.clone()));
    let history = || cell(&store, "select count(*) from price_history");
    let entries: i64 = history().parse().unwrap();
    let mut applied = change;
    applied["apply"] = json!(true);
    run(client, "PRICES", "CmdChange", applied);
    assert!(price().parse::<i64>().unwrap() < before.parse::<i64>().unwrap());
    assert!(history().parse::<i64>().unwrap() > entries, "what a price was is kept");

    let variant: i64 =
        cell(&store, "select variant_id from stock where on_hand > 5 order by id limit 1").parse().unwrap();
    let lies = |place: &str| {
        cell(
            &store,
            &format!("select coalesce(sum(on_hand), 0) from stock where variant_id = {variant} {place}"),
        )
    };
    let counted =
        run(client, "STOCK", "CmdCount", json!({"variant": variant, "count": 42, "reason": "counted"}));
    let main = counted["detail"]["location"].as_i64().unwrap();
    let at_main = format!("and location_id = {main}");
    assert_eq!(lies(&at_main), "42");
    run(client, "STOCK", "CmdAdd", json!({"variant": variant, "pieces": -2}));
    let problem = no(client, "STOCK", "CmdAdd", json!({"variant": variant, "pieces": -41}));
    assert!(problem.contains("only 40 lie"), "{problem}");
    let moves = run(client, "STOCK", "CmdMoves", json!({"variant": variant, "limit": 2}));
    let kinds: Vec<Value> = rows(&moves, "moves").iter().map(|row| row["kind"].clone()).collect();
    assert_eq!(kinds, ["kCorrect", "kCorrect"]);
    store.sql("insert into locations (skey, name) values ('kShed', 'Shed')").unwrap();
    let shed: i64 = cell(&store, "select id from locations where skey = 'kShed'").parse().unwrap();
    run(client, "STOCK", "CmdMove", json!({"variant": variant, "from": main, "to": shed, "pieces": 15}));
    assert_eq!((lies(&at_main), lies(&format!("and location_id = {shed}"))), ("25".into(), "15".into()));
    assert!(
        no(client, "STOCK", "CmdMove", json!({"variant": variant, "from": main, "to": shed, "pieces": 26}))
            .contains("only 25")
    );
    assert!(
        no(client, "STOCK", "CmdCount", json!({"variant": 999_999, "count": 1}))
            .contains("CmdCard of PRODUCTS")
    );
    let few = run(client, "STOCK", "CmdList", json!({"below": 3, "limit": 5}));
    assert!(rows(&few, "stock").iter().all(|row| row["available"].as_i64().unwrap() < 3));
}

#[test]
fn the_tree_brands_attributes_and_files_are_kept() {
    let store = store();
    let (_trying, mut client) = agent(&store, "irina");
    let client = &mut client;
    let category = |answer: &Value| answer["detail"]["category"].as_i64().unwrap();
    let top = category(&run(client, "CATEGORIES", "CmdAdd", json!({"name": "Gifts"})));
    let low = category(&run(client, "CATEGORIES", "CmdAdd", json!({"name": "For two", "parent": top})));
    assert_eq!(
        cell(&store, &format!("select path from slugs where entity = 'categories' and elem_id = {low}")),
        "gifts/for-two"
    );
    let problem = no(client, "CATEGORIES", "CmdChange", json!({"id": top, "parent": low}));
    assert!(problem.contains("cannot lie in itself"), "{problem}");
    assert!(
        no(client, "CATEGORIES", "CmdRemove", json!({"id": top, "apply": true}))
            .contains("other categories lie")
    );
    run(client, "CATEGORIES", "CmdChange", json!({"id": low, "parent": 0, "name": "For both"}));
    assert_eq!(cell(&store, &format!("select count(*) from category_closure where descendant = {low}")), "1");
    let tree = rows(&run(client, "CATEGORIES", "CmdTree", json!({})), "categories");
    assert_eq!(tree.len().to_string(), cell(&store, "select count(*) from categories where deleted is null"));
    run(client, "CATEGORIES", "CmdRemove", json!({"id": low}));
    run(client, "CATEGORIES", "CmdRemove", json!({"id": low, "apply": true}));
    assert!(no(client, "CATEGORIES", "CmdRemove", json!({"id": low})).contains("CmdTree"));

    let brand =
        run(client, "BRANDS", "CmdAdd", json!({"name": "Quiet Hills"}))["detail"]["brand"].as_i64().unwrap();
    assert!(
        no(client, "BRANDS", "CmdAdd", json!({"name": "quiet hills"})).starts_with("Nothing was changed")
    );
    run(client, "BRANDS", "CmdChange", json!({"id": brand, "site": "https://example.com/hills"}));
    assert_eq!(cell(&store, &format!("select name from brands where id = {brand}")), "Quiet Hills");
    let used = cell(
        &store,
        "select brand_id from products where brand_id is not null and deleted is null order by id limit 1",
    );
    assert!(
        no(client, "BRANDS", "CmdRemove", json!({"id": used, "apply": true}))
            .contains("products are of brand")
    );
    run(client, "BRANDS", "CmdRemove", json!({"id": brand, "apply": true}));
    assert!(
        no(client, "BRANDS", "CmdChange", json!({"id": brand, "name": "x"})).contains("CmdList of BRANDS")
    );

    let roast = json!({"skey": "roast", "name": "Roast", "type": "kChoice", "choices": ["light", "dark"], "filter": true});
    let roast = id(&run(client, "ATTRIBUTES", "CmdAdd", roast));
    let height = id(&run(
        client,
        "ATTRIBUTES",
        "CmdAdd",
        json!({"skey": "height_m", "name": "Height", "type": "kDecimal", "decimals": 1}),
    ));
    run(client, "ATTRIBUTES", "CmdSet", json!({"product": 1, "id": roast, "value": "dark"}));
    run(client, "ATTRIBUTES", "CmdSet", json!({"product": 1, "id": height, "value": "12.5"}));
    let value =
        |attribute: i64| format!("from attribute_values where product_id = 1 and attribute_id = {attribute}");
    assert_eq!(cell(&store, &format!("select int_value {}", value(height))), "125");
    assert!(
        no(client, "ATTRIBUTES", "CmdSet", json!({"product": 1, "id": roast, "value": "burnt"}))
            .contains("is no value of Roast")
    );
    assert!(
        no(client, "ATTRIBUTES", "CmdSet", json!({"product": 1, "id": height, "value": "1.25"}))
            .contains("is no value")
    );
    run(client, "ATTRIBUTES", "CmdAddChoice", json!({"id": roast, "name": "burnt"}));
    run(client, "ATTRIBUTES", "CmdSet", json!({"product": 1, "id": roast, "value": "burnt"}));
    let of = rows(&run(client, "ATTRIBUTES", "CmdOf", json!({"product": 1})), "values");
    assert!(of.iter().any(|row| row["choice"] == json!("burnt")), "{of:?}");
    run(client, "ATTRIBUTES", "CmdClear", json!({"product": 1, "id": roast}));
    run(client, "ATTRIBUTES", "CmdClear", json!({"product": 1, "id": roast, "apply": true}));
    assert_eq!(cell(&store, &format!("select count(*) {}", value(roast))), "0");
    run(client, "ATTRIBUTES", "CmdChange", json!({"id": height, "measure": "m"}));
    assert_eq!(
        cell(&store, &format!("select measure || ' ' || name from attributes where id = {height}")),
        "m Height"
    );

    let files = rows(&run(client, "ELEMENT_FILES", "CmdList", json!({"elem_id": 1})), "files");
    let file = files[0]["id"].as_i64().unwrap();
    run(client, "ELEMENT_FILES", "CmdChange", json!({"id": file, "alt": "A tin on a shelf"}));
    assert_eq!(cell(&store, &format!("select alt from files where id = {file}")), "A tin on a shelf");
    run(client, "ELEMENT_FILES", "CmdRemove", json!({"id": file}));
    run(client, "ELEMENT_FILES", "CmdRemove", json!({"id": file, "apply": true}));
    assert!(
        no(client, "ELEMENT_FILES", "CmdRemove", json!({"id": file})).contains("CmdList of ELEMENT_FILES")
    );
}
