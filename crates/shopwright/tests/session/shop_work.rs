//! A manager's agent works in the sample store with its own tools: an order, a review, a discount, a task.

use serde_json::{Value, json};
use testkit::{Client, TestStore, Trying};

use crate::setup::store;

/// A session that may run the store's own tools.
pub(crate) fn agent(store: &TestStore<'_>, login: &str) -> (Trying, Client) {
    let trying = store.start(login).unwrap();
    let mut client = trying.connected().unwrap();
    client.read_critical_notes().unwrap();
    client.accept_rules("tool_list", json!({})).unwrap();
    (trying, client)
}

/// What a command answered that did what it was asked.
pub(crate) fn run(client: &mut Client, unit: &str, command: &str, params: Value) -> Value {
    client.done("tool_run", json!({"unit": unit, "command": command, "params": params})).unwrap()
}

/// The message of a command that said no.
pub(crate) fn no(client: &mut Client, unit: &str, command: &str, params: Value) -> String {
    let answer =
        client.call("tool_run", json!({"unit": unit, "command": command, "params": params})).unwrap();
    assert!(answer.refused() && answer.data()["result"] == json!(false), "{}", answer.text());
    answer.data()["message"].as_str().unwrap().to_owned()
}

fn cell(store: &TestStore<'_>, sql: String) -> String {
    store.cell(&sql).unwrap()
}

#[test]
fn an_order_goes_out_in_part_and_the_rest_is_cancelled_and_refunded() {
    let store = store();
    let pick = "from orders o join order_lines l on l.order_id = o.id
        where o.state = 'kNew' and o.pay = 'kPaid' and l.quantity > 1 order by l.id limit 1";
    let number = cell(&store, format!("select o.number {pick}"));
    let line: i64 = cell(&store, format!("select l.id {pick}")).parse().unwrap();
    let (_trying, mut client) = agent(&store, "irina");
    let of_order = |column: &str| format!("select {column} from orders where number = '{number}'");

    run(&mut client, "ORDERS", "CmdMove", json!({"number": number, "state": "kAccept"}));
    assert_eq!(cell(&store, of_order("state")), "kAccept");
    let problem = no(&mut client, "ORDERS", "CmdMove", json!({"number": number, "state": "kNowhere"}));
    assert!(problem.contains("there is no state `kNowhere`"), "{problem}");

    let parcel = json!({"number": number, "lines": [{"line": line, "pieces": 1}], "tracking": "LT-1"});
    run(&mut client, "ORDERS", "CmdShip", parcel);
    let of_line = |column: &str| format!("select {column} from order_lines where id = {line}");
    assert_eq!(cell(&store, of_line("shipped")), "1");
    assert_eq!(cell(&store, of_order("delivery")), "kPart");
    let much = json!({"number": number, "lines": [{"line": line, "pieces": 9999}]});
    assert!(no(&mut client, "ORDERS", "CmdShip", much).contains("there are only"));

    let gone =
        json!({"number": number, "lines": [{"line": line, "pieces": 1}], "reason": "Broken in the store"});
    run(&mut client, "ORDERS", "CmdCancelPieces", gone);
    let refunds = || cell(&store, "select count(*) from refunds where key like 'broken-one%'".to_owned());
    let mut back = json!({"number": number, "key": "broken-one", "lines": [{"line": line, "pieces": 1}]});
    let shown = run(&mut client, "ORDERS", "CmdRefund", back.clone());
    assert!(shown["detail"]["amount"].as_i64().unwrap() > 0, "{shown}");
    let before = refunds();
    back["apply"] = json!(true);
    let done = run(&mut client, "ORDERS", "CmdRefund", back.clone());
    assert_eq!(done["detail"]["amount"], shown["detail"]["amount"]);
    assert_eq!(run(&mut client, "ORDERS", "CmdRefund", back.clone())["detail"], done["detail"]);
    assert_eq!(before, "0");
    assert_eq!(cell(&store, of_line("refunded_quantity")), "1");
    back["key"] = json!("broken-two");
    assert!(no(&mut client, "ORDERS", "CmdRefund", back).contains("only 0 pieces"));

    let note = json!({"number": number, "text": "The customer was called"});
    run(&mut client, "ORDERS", "CmdNote", note.clone());
    // A grant of the command is not enough: the person needs the right to work on orders.
    store.store_command("revoke", &["--group", "MANAGER", "ORDERS"]).unwrap();
    let call = json!({"unit": "ORDERS", "command": "CmdNote", "params": note});
    let refused = client.call("tool_run", call).unwrap();
    assert!(refused.text().contains("no right `ORDERS`"), "{}", refused.text());
    let missed = no(&mut client, "ORDERS", "CmdMove", json!({"number": "none", "state": "kDone"}));
    assert!(missed.contains("CmdList of ORDERS"), "{missed}");
}

#[test]
fn a_review_is_answered_a_discount_has_a_limit_and_a_colleague_gets_a_task() {
    let store = store();
    let (_trying, mut client) = agent(&store, "irina");

    let list = run(&mut client, "REVIEWS", "CmdList", json!({"state": "kShown", "limit": 1}));
    let id = list["detail"]["last"].as_i64().unwrap();
    run(&mut client, "REVIEWS", "CmdAnswer", json!({"id": id, "text": "Thank you!"}));
    assert_eq!(cell(&store, format!("select answer from reviews where id = {id}")), "Thank you!");
    let stars = format!(
        "select rating_count from products where id = (select product_id from reviews where id = {id})"
    );
    let before: i64 = cell(&store, stars.clone()).parse().unwrap();
    run(&mut client, "REVIEWS", "CmdHide", json!({"id": id}));
    assert_eq!(cell(&store, stars.clone()), (before - 1).to_string());
    run(&mut client, "REVIEWS", "CmdShow", json!({"id": id}));
    assert_eq!(cell(&store, stars), before.to_string());
    assert!(no(&mut client, "REVIEWS", "CmdHide", json!({"id": 999_999})).contains("CmdList"));

    let discount =
        json!({"name": "Autumn", "percent": 12.5, "limit": 20, "code": "AUTUMN-1", "until": "2027-01-01"});
    let added = run(&mut client, "DISCOUNTS", "CmdAdd", discount.clone());
    let id = added["detail"]["id"].as_i64().unwrap();
    let of = |column: &str| format!("select {column} from promotions where id = {id}");
    assert_eq!((cell(&store, of("value")), cell(&store, of("usage_limit"))), ("125000".into(), "20".into()));
    assert!(no(&mut client, "DISCOUNTS", "CmdAdd", discount).contains("is taken"));
    let enabled = format!("select count(*) from promotions where enabled and id = {id}");
    run(&mut client, "DISCOUNTS", "CmdStop", json!({"id": id}));
    assert_eq!(cell(&store, enabled.clone()), "1");
    run(&mut client, "DISCOUNTS", "CmdStop", json!({"id": id, "apply": true}));
    assert_eq!(cell(&store, enabled), "0");

    let task = json!({"login": "admin", "name": "Look at the autumn discount"});
    let id = run(&mut client, "TASKS", "CmdAdd", task)["detail"]["task"].as_i64().unwrap();
    run(&mut client, "TASKS", "CmdHand", json!({"id": id, "login": "oleg", "note": "You know it better"}));
    let executor =
        format!("select u.login from tasks t join users u on u.id = t.executor_id where t.id = {id}");
    assert_eq!(cell(&store, executor), "oleg");
    let refused = no(&mut client, "TASKS", "CmdAdd", json!({"login": "nobody", "name": "x"}));
    assert!(refused.contains("the login nobody"), "{refused}");
    let foreign = cell(
        &store,
        "select t.id from tasks t join users c on c.id = t.creator_id
        join users e on e.id = t.executor_id where 'irina' not in (c.login, e.login) order by t.id limit 1"
            .to_owned(),
    );
    let foreign: i64 = foreign.parse().unwrap();
    let refused = no(&mut client, "TASKS", "CmdHand", json!({"id": foreign, "login": "oleg"}));
    assert!(refused.contains("You have no task"), "{refused}");
}
