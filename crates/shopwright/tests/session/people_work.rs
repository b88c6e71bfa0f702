//! Agents work on the sample store's customers, people, currencies, lists of keys and events.

use serde_json::json;

use crate::setup::store;
use crate::shop_work::{agent, no, run};

#[test]
fn nobody_locks_themselves_out_or_gives_more_than_they_have() {
    let store = store();
    let cell = |sql: &str| store.cell(sql).unwrap();
    let person =
        |login: &str| cell(&format!("select id from users where login = '{login}'")).parse::<i64>().unwrap();
    let group =
        |skey: &str| cell(&format!("select id from groups where skey = '{skey}'")).parse::<i64>().unwrap();
    let (admin, irina, oleg) = (person("admin"), person("irina"), person("oleg"));
    store.sql("insert into ai_grants (command_id, group_id) select c.id, g.id from ai_commands c join ai_tools t on t.id = c.tool_id, groups g where t.unit = 'USERS' and g.skey = 'MANAGER'").unwrap();
    {
        let (_trying, mut client) = agent(&store, "irina");
        let client = &mut client;
        let refused = client
            .call(
                "tool_run",
                json!({"unit": "USERS", "command": "CmdChange", "params": {"id": oleg, "name": "O"}}),
            )
            .unwrap();
        assert!(refused.text().contains("no right `USERS`"), "{}", refused.text());
        store.store_command("grant", &["--login", "irina", "USERS"]).unwrap();
        let made = run(
            client,
            "USERS",
            "CmdAdd",
            json!({"login": "vera", "name": "Vera", "main_group": group("TRAINEE")}),
        );
        let vera = made["detail"]["user"].as_i64().unwrap();
        assert_eq!(cell(&format!("select password_hash from users where id = {vera}")), "!");
        assert!(no(client, "USERS", "CmdAdd", json!({"login": "Vera", "name": "x"})).contains("is taken"));
        assert!(
            no(client, "USERS", "CmdAdd", json!({"login": "a b", "name": "x"})).contains("letters, digits")
        );
        let higher = no(client, "USERS", "CmdChange", json!({"id": vera, "groups": [group("ADMIN")]}));
        assert!(higher.contains("only an administrator makes administrators"), "{higher}");
        assert!(
            no(client, "USERS", "CmdChange", json!({"id": admin, "name": "x"}))
                .contains("only an administrator")
        );
        store.sql("insert into groups (skey, name, position) values ('BOSS', 'Boss', 9)").unwrap();
        store.store_command("grant", &["--group", "BOSS", "INSTALLATION"]).unwrap();
        let more = no(client, "USERS", "CmdChange", json!({"id": irina, "groups": [group("BOSS")]}));
        assert!(more.contains("INSTALLATION, which you do not have"), "{more}");
        let own = no(client, "USERS", "CmdBlock", json!({"id": irina, "apply": true}));
        assert!(own.contains("nobody blocks themselves"), "{own}");
        let shown = run(client, "USERS", "CmdBlock", json!({"id": oleg}));
        assert_eq!(
            (
                shown["detail"]["applied"].clone(),
                cell(&format!("select count(*) from users where blocked and id = {oleg}"))
            ),
            (json!(false), "0".into())
        );
        run(client, "USERS", "CmdBlock", json!({"id": oleg, "apply": true}));
        run(client, "USERS", "CmdUnblock", json!({"id": oleg}));
    }
    let (_trying, mut client) = agent(&store, "admin");
    let client = &mut client;
    let left = no(client, "USERS", "CmdChange", json!({"id": admin, "main_group": group("TRAINEE")}));
    assert!(left.contains("you would lose the right"), "{left}");
    assert!(
        no(client, "USERS", "CmdBlock", json!({"id": admin, "apply": true}))
            .contains("nobody blocks themselves")
    );
    assert!(no(client, "USERS", "CmdBlock", json!({"id": 999_999})).contains("CmdList of USERS"));
    run(client, "USERS", "CmdChange", json!({"id": oleg, "groups": [group("ADMIN")]}));
    assert_eq!(cell("select count(*) from users where login = 'admin' and not blocked"), "1");
}

#[test]
fn customers_currencies_lists_and_events_are_looked_after() {
    let store = store();
    let cell = |sql: &str| store.cell(sql).unwrap();
    let (_trying, mut client) = agent(&store, "admin");
    let client = &mut client;
    let list = run(client, "CUSTOMERS", "CmdList", json!({"limit": 2}));
    assert_eq!(list["detail"]["more"], json!(true));
    let id = list["detail"]["last"].as_i64().unwrap();
    let of = |column: &str| cell(&format!("select {column} from customers where id = {id}"));
    let name = of("name");
    run(client, "CUSTOMERS", "CmdChange", json!({"id": id, "phone": "+370 600 00000"}));
    assert_eq!((of("phone"), of("name")), ("+370 600 00000".into(), name));
    let card = run(client, "CUSTOMERS", "CmdCard", json!({"id": id}));
    assert_eq!(card["detail"]["phone"], json!("+370 600 00000"));
    run(client, "CUSTOMERS", "CmdErase", json!({"id": id}));
    assert_ne!(of("email"), "");
    run(client, "CUSTOMERS", "CmdErase", json!({"id": id, "apply": true}));
    assert_eq!(of("email"), "");
    assert!(no(client, "CUSTOMERS", "CmdCard", json!({"id": id})).contains("CmdList of CUSTOMERS"));

    let currencies = run(client, "CURRENCIES", "CmdList", json!({}));
    assert_eq!(currencies["detail"]["currency"], json!("EUR"));
    run(client, "CURRENCIES", "CmdRate", json!({"base": "EUR", "quote": "USD", "rate": 1.0875}));
    assert_eq!(
        cell(
            "select rate_e9 from exchange_rates where base = 'EUR' and quote = 'USD' order by since desc limit 1"
        ),
        "1087500000"
    );
    assert!(
        no(client, "CURRENCIES", "CmdRate", json!({"base": "EUR", "quote": "XXX", "rate": 1}))
            .contains("CmdList of CURRENCIES")
    );
    run(client, "CURRENCIES", "CmdChange", json!({"code": "USD", "cash_step": 5}));
    assert_eq!(cell("select cash_step from currencies where code = 'USD'"), "5");

    run(client, "REGISTRY", "CmdSave", json!({"branch": "task_state", "skey": "kParked", "name": "Parked"}));
    run(
        client,
        "REGISTRY",
        "CmdSave",
        json!({"branch": "task_state", "skey": "kParked", "name": "On the shelf"}),
    );
    assert_eq!(
        cell("select name from registry where branch = 'task_state' and skey = 'kParked'"),
        "On the shelf"
    );
    assert!(
        no(client, "REGISTRY", "CmdSave", json!({"branch": "none", "skey": "kX", "name": "x"}))
            .contains("no list `none`")
    );
    assert!(
        no(client, "REGISTRY", "CmdSave", json!({"branch": "task_state", "skey": "parked", "name": "x"}))
            .contains("like kGift")
    );

    run(client, "TASKS", "CmdAdd", json!({"login": "oleg", "name": "Water the bonsai"}));
    let told = run(client, "EVENTS", "CmdList", json!({"key": "kTaskAssigned", "all": true, "limit": 1}));
    assert!(told["tables"]["events"]["head"].as_str().unwrap().contains("Water the bonsai"), "{told}");
}
