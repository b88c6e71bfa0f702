//! Every type of a tool's fields over stdio: what the unit gets for the very spelling that an agent sent, and what is refused.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Client, TestStore};

use crate::setup::store;

const PATIENCE: Duration = Duration::from_secs(60);

/// Says what it got, so that numbers, big numbers and texts are told apart.
const UNIT: &str = r#"
const show = (value) => {
  if (value === undefined) return "nothing";
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (Array.isArray(value)) return `[${value.map(show).join()}]`;
  if (value && typeof value === "object")
    return `{${Object.keys(value).map((key) => `${JSON.stringify(key)}:${show(value[key])}`).join()}}`;
  return JSON.stringify(value);
};
const told = (_user, param) => ({ result: true, detail: { got: show(param.v) } });
"#;

/// A type, what an agent writes for it, what the unit gets; `no` is refused.
const CASES: &[(&str, &str, &str)] = &[
    ("str", r#""tea""#, r#""tea""#),
    ("str", r#""""#, r#""""#),
    ("str", r#"" a ""#, r#"" a ""#),
    ("str", r#""чай""#, r#""чай""#),
    ("str", r#""\ud83c\udf75""#, "\"🍵\""),
    ("str", r#""a\n\t\"b\\""#, r#""a\n\t\"b\\""#),
    ("str", r#""\u2028\u202e""#, "\"\u{2028}\u{202e}\""),
    ("str", r#""\uFEFFx""#, "\"\u{feff}x\""),
    ("str", r#""null""#, r#""null""#),
    ("str", r#""' or 1=1 --""#, r#""' or 1=1 --""#),
    ("str", r#""{{ 7*7 }}""#, r#""{{ 7*7 }}""#),
    ("str", "5", r#""5""#),
    ("str", "-0.5", r#""-0.5""#),
    ("str", "9007199254740993", r#""9007199254740993""#),
    ("str", "true", r#""true""#),
    ("str", "null", "nothing"),
    ("str", r#""\u0000""#, "no"),
    ("str", r#""a\u0000b""#, "no"),
    ("str", r#""\ud800""#, "no"),
    ("str", r#""\udc00x""#, "no"),
    ("str", r#""\ud83c""#, "no"),
    ("str", "[]", "no"),
    ("str", r#"["a"]"#, "no"),
    ("str", "{}", "no"),
    ("int", "0", "0"),
    ("int", "-1", "-1"),
    ("int", "-0", "0"),
    ("int", "-0.0", "0"),
    ("int", "5.0", "5"),
    ("int", "1e3", "1000"),
    ("int", r#""42""#, "42"),
    ("int", r#""-42""#, "-42"),
    ("int", "9007199254740991", "9007199254740991"),
    ("int", "9007199254740993", "9007199254740993n"),
    ("int", r#""9007199254740993""#, "9007199254740993n"),
    ("int", "9223372036854775807", "9223372036854775807n"),
    ("int", "-9223372036854775808", "-9223372036854775808n"),
    ("int", "null", "nothing"),
    ("int", "9223372036854775808", "no"),
    ("int", "18446744073709551616", "no"),
    ("int", "5.5", "no"),
    ("int", "1e16", "no"),
    ("int", "1e300", "no"),
    ("int", "1e400", "no"),
    ("int", "-1e400", "no"),
    ("int", "NaN", "no"),
    ("int", "Infinity", "no"),
    ("int", "0x10", "no"),
    ("int", "+5", "no"),
    ("int", "05", "no"),
    ("int", r#""""#, "no"),
    ("int", r#"" 5""#, "no"),
    ("int", r#""5.0""#, "no"),
    ("int", r#""1e3""#, "no"),
    ("int", r#""-0""#, "no"),
    ("int", r#""007""#, "no"),
    ("int", r#""٣""#, "no"),
    ("int", r#""9223372036854775808""#, "no"),
    ("int", "true", "no"),
    ("int", "[5]", "no"),
    ("int", "{}", "no"),
    ("float", "0", "0"),
    ("float", "1.5", "1.5"),
    ("float", "-0.0", "0"),
    ("float", "1e300", "1e+300"),
    ("float", "5e-324", "5e-324"),
    ("float", "1e-400", "0"),
    ("float", "0.1", "0.1"),
    ("float", "9007199254740992", "9007199254740992"),
    ("float", "null", "nothing"),
    ("float", "9007199254740993", "no"),
    ("float", "18446744073709551615", "no"),
    ("float", "1e400", "no"),
    ("float", "-1e400", "no"),
    ("float", "NaN", "no"),
    ("float", r#""1.5""#, "no"),
    ("float", r#""""#, "no"),
    ("float", "false", "no"),
    ("float", "[1]", "no"),
    ("bool", "true", "true"),
    ("bool", "false", "false"),
    ("bool", r#""yes""#, "true"),
    ("bool", r#""No""#, "false"),
    ("bool", r#""on""#, "true"),
    ("bool", r#""OFF""#, "false"),
    ("bool", r#""true""#, "true"),
    ("bool", r#""0""#, "false"),
    ("bool", "1", "true"),
    ("bool", "0", "false"),
    ("bool", "null", "nothing"),
    ("bool", "2", "no"),
    ("bool", "-1", "no"),
    ("bool", "0.5", "no"),
    ("bool", r#""""#, "no"),
    ("bool", r#""y""#, "no"),
    ("bool", r#"" yes""#, "no"),
    ("bool", r#""да""#, "no"),
    ("bool", "[]", "no"),
    ("date", r#""2026-12-02""#, r#""2026-12-02""#),
    ("date", r#""2024-02-29""#, r#""2024-02-29""#),
    ("date", r#""0001-01-01""#, r#""0001-01-01""#),
    ("date", r#""9999-12-31""#, r#""9999-12-31""#),
    ("date", "null", "nothing"),
    ("date", r#""31 February""#, "no"),
    ("date", r#""2026-02-31""#, "no"),
    ("date", r#""2025-02-29""#, "no"),
    ("date", r#""1900-02-29""#, "no"),
    ("date", r#""2026-13-01""#, "no"),
    ("date", r#""2026-00-10""#, "no"),
    ("date", r#""2026-1-2""#, "no"),
    ("date", r#""20261202""#, "no"),
    ("date", r#""2026-W49""#, "no"),
    ("date", r#""2026-12-02T10:00:00""#, "no"),
    ("date", r#""10000-01-01""#, "no"),
    ("date", r#""""#, "no"),
    ("date", r#""today""#, "no"),
    ("date", "20261202", "no"),
    ("time", r#""10:30""#, r#""10:30:00""#),
    ("time", r#""00:00:00""#, r#""00:00:00""#),
    ("time", r#""23:59:59""#, r#""23:59:59""#),
    ("time", "null", "nothing"),
    ("time", r#""24:00""#, "no"),
    ("time", r#""23:60""#, "no"),
    ("time", r#""23:59:60""#, "no"),
    ("time", r#""9:30""#, "no"),
    ("time", r#""10""#, "no"),
    ("time", r#""10:30 pm""#, "no"),
    ("time", r#""10:30Z""#, "no"),
    ("time", "1030", "no"),
    ("datetime", r#""2026-12-02""#, r#""2026-12-02 00:00:00""#),
    ("datetime", r#""2026-12-02 10:30""#, r#""2026-12-02 10:30:00""#),
    ("datetime", r#""2026-12-02T10:30:15""#, r#""2026-12-02 10:30:15""#),
    ("datetime", "null", "nothing"),
    ("datetime", r#""2026-02-31 10:00""#, "no"),
    ("datetime", r#""2026-12-02 25:00""#, "no"),
    ("datetime", r#""10:30""#, "no"),
    ("datetime", r#""2026-12-02 10:30 tomorrow""#, "no"),
    ("datetime", "1764633600", "no"),
    ("json", "[]", "[]"),
    ("json", "{}", "{}"),
    ("json", "[[[1,[null]]]]", "[[[1,[null]]]]"),
    ("json", r#"{"a":[1,{"b":null}]}"#, r#"{"a":[1,{"b":null}]}"#),
    ("json", r#"{"__proto__":1,"constructor":2}"#, r#"{"__proto__":1,"constructor":2}"#),
    ("json", r#"[9007199254740993]"#, "[9007199254740993n]"),
    ("json", "null", "nothing"),
    ("json", r#""[]""#, "no"),
    ("json", "5", "no"),
    ("json", "true", "no"),
    ("json", r#"["\u0000"]"#, "no"),
    ("json", r#"{"\u0000":1}"#, "no"),
    ("json", "[1e400]", "no"),
    ("json", r#"["\ud800"]"#, "no"),
    ("json", "[1,]", "no"),
    ("jsonl", "[{}]", "[{}]"),
    ("jsonl", r#"[{"a":1},{"b":[2]}]"#, r#"[{"a":1},{"b":[2]}]"#),
    ("jsonl", "null", "nothing"),
    ("jsonl", "{}", "no"),
    ("jsonl", "[1]", "no"),
    ("jsonl", "[{},null]", "no"),
    ("jsonl", "[[{}]]", "no"),
    ("jsonl", r#""[{}]""#, "no"),
    ("int/json", "5", "[5]"),
    ("int/json", "[5]", "[5]"),
    ("int/json", r#"[1,"2",3.0]"#, "[1,2,3]"),
    ("int/json", "null", "nothing"),
    ("int/json", "[]", "no"),
    ("int/json", "[[1]]", "no"),
    ("int/json", "[1,null]", "no"),
    ("int/json", "[null]", "no"),
    ("int/json", r#"[1,"x"]"#, "no"),
    ("int/json", r#"{"0":1}"#, "no"),
    ("str/json", r#""a""#, r#"["a"]"#),
    ("str/json", r#"["a",1,true]"#, r#"["a","1","true"]"#),
    ("str/json", "[]", "no"),
    ("str/json", r#"["a",["b"]]"#, "no"),
    ("str/json", r#"["a",null]"#, "no"),
    ("date/json", r#""2026-12-02""#, r#"["2026-12-02"]"#),
    ("date/json", r#"["2026-12-02","2026-02-30"]"#, "no"),
    ("bool/json", r#"["on",0]"#, "[true,false]"),
    ("float/json", "[1,2.5]", "[1,2.5]"),
    ("float/json", "[1e400]", "no"),
];

fn command(kind: &str) -> String {
    format!("Cmd{}", kind.replace('/', "_"))
}

fn lay_tool(store: &TestStore<'_>) {
    let mut kinds: Vec<&str> = CASES.iter().map(|(kind, _, _)| *kind).collect();
    kinds.dedup();
    let mut unit = UNIT.to_owned();
    store.sql("insert into ai_tools (unit, name) values ('FIELDS', 'Fields')").unwrap();
    for kind in kinds {
        let name = command(kind);
        writeln!(unit, "export const {name} = told;").unwrap();
        let of = "from ai_tools where unit = 'FIELDS'";
        store.sql(&format!("insert into ai_commands (tool_id, name) select id, '{name}' {of}")).unwrap();
        let of = format!("from ai_commands where name = '{name}'");
        let field = "insert into ai_fields (command_id, name, type, descr)";
        store.sql(&format!("{field} select id, 'v', '{kind}', 'A value' {of}")).unwrap();
    }
    std::fs::write(store.root().join("units/fields.js"), unit).unwrap();
}

/// Sends these very letters; the whole answer.
fn sent(client: &mut Client, id: usize, kind: &str, value: &str) -> Value {
    let name = command(kind);
    let arguments = format!(r#"{{"unit":"FIELDS","command":"{name}","params":{{"v":{value}}}}}"#);
    let params = format!(r#"{{"name":"tool_run","arguments":{arguments}}}"#);
    let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
    client.send_raw(format!("{line}\n").as_bytes()).unwrap();
    client.message(PATIENCE).unwrap()
}

#[test]
fn the_unit_gets_what_was_written_or_nothing() {
    assert!(CASES.len() > 150);
    let store = store();
    lay_tool(&store);
    let trying = store.start("admin").unwrap();
    let mut client = trying.connected().unwrap();
    client.read_critical_notes().unwrap();
    client.accept_rules("tool_list", json!({})).unwrap();
    let mut wrong = Vec::new();
    for (number, (kind, value, wanted)) in CASES.iter().enumerate() {
        let answer = sent(&mut client, 10_000 + number, kind, value);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let data: Value = serde_json::from_str(text).unwrap_or_default();
        let got = match &data["detail"]["got"] {
            Value::String(got) => got.clone(),
            // It names the field, or the line was no JSON and says where.
            _ if data["result"] == json!(false) && data["message"].to_string().contains("[v]") => {
                "no".to_owned()
            }
            _ if answer["error"]["code"] == json!(-32700) => "no".to_owned(),
            _ => format!("{answer}"),
        };
        if got != *wanted {
            wrong.push(format!("{kind} {value}: {got}, not {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Whatever was refused, the next call works.
    let unknown = json!({"unit": "FIELDS", "command": "CmdInt", "params": {"v": 1, "w": 2}});
    let refused = client.call("tool_run", unknown).unwrap();
    assert!(refused.text().contains("[w]") && refused.text().contains("v"), "{}", refused.text());
    let done = client.done("tool_run", json!({"unit": "FIELDS", "command": "CmdInt", "params": {"v": 1}}));
    assert_eq!(done.unwrap()["detail"]["got"], json!("1"));
}
