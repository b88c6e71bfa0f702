//! Every type of field with good, edge and bad values.

use serde_json::{Value, json};

use super::*;

/// Type, value, what the unit gets; `None` is refused.
type Case = (&'static str, Value, Option<Value>);

fn same(kind: &'static str, value: Value) -> Case {
    (kind, value.clone(), Some(value))
}

fn bad(kind: &'static str, value: Value) -> Case {
    (kind, value, None)
}

fn texts() -> Vec<Case> {
    vec![
        same("str", json!("tea")),
        same("str", json!("")),
        same("str", json!(" ")),
        same("str", json!("чай 🍵")),
        same("str", json!("a\nb\t\"c\"")),
        same("str", json!("null")),
        same("str", json!("[1]")),
        same("str", json!("\u{feff}x")),
        same("str", json!("\u{ffff}")),
        ("str", json!(5), Some(json!("5"))),
        ("str", json!(-0.5), Some(json!("-0.5"))),
        ("str", json!(9_007_199_254_740_993_i64), Some(json!("9007199254740993"))),
        ("str", json!(true), Some(json!("true"))),
        bad("str", json!("a\u{0}b")),
        bad("str", json!("\u{0}")),
        bad("str", json!([])),
        bad("str", json!(["a"])),
        bad("str", json!({})),
        bad("str", json!({"a": 1})),
    ]
}

fn ints() -> Vec<Case> {
    vec![
        same("int", json!(0)),
        same("int", json!(-1)),
        same("int", json!(i64::MAX)),
        same("int", json!(i64::MIN)),
        same("int", json!(9_007_199_254_740_993_i64)),
        ("int", json!("42"), Some(json!(42))),
        ("int", json!("-42"), Some(json!(-42))),
        ("int", json!("0"), Some(json!(0))),
        ("int", json!("9223372036854775807"), Some(json!(i64::MAX))),
        ("int", json!("9007199254740993"), Some(json!(9_007_199_254_740_993_i64))),
        ("int", json!(5.0), Some(json!(5))),
        ("int", json!(-0.0), Some(json!(0))),
        ("int", json!(1e15), Some(json!(1_000_000_000_000_000_i64))),
        bad("int", json!(1e16)),
        bad("int", json!(5.5)),
        bad("int", json!(u64::MAX)),
        bad("int", json!(1e300)),
        bad("int", json!("9223372036854775808")),
        bad("int", json!("+5")),
        bad("int", json!("-0")),
        bad("int", json!("007")),
        bad("int", json!(" 5")),
        bad("int", json!("5 ")),
        bad("int", json!("5.0")),
        bad("int", json!("1e3")),
        bad("int", json!("0x10")),
        bad("int", json!("1_000")),
        bad("int", json!("1,000")),
        bad("int", json!("")),
        bad("int", json!("five")),
        bad("int", json!("٣")),
        bad("int", json!("５")),
        bad("int", json!("५")),
        bad("int", json!("−5")),
        bad("int", json!("5\u{0}")),
        bad("int", json!(true)),
        bad("int", json!([5])),
        bad("int", json!({"int": 5})),
    ]
}

fn floats() -> Vec<Case> {
    vec![
        ("float", json!(0), Some(json!(0.0))),
        same("float", json!(1.5)),
        same("float", json!(-1.5)),
        same("float", json!(-0.0)),
        same("float", json!(1e300)),
        same("float", json!(5e-324)),
        ("float", json!(9_007_199_254_740_992_i64), Some(json!(9_007_199_254_740_992.0))),
        bad("float", json!(9_007_199_254_740_993_i64)),
        bad("float", json!(-9_007_199_254_740_993_i64)),
        bad("float", json!(u64::MAX)),
        bad("float", json!("1.5")),
        bad("float", json!("NaN")),
        bad("float", json!("1e400")),
        bad("float", json!("")),
        bad("float", json!(true)),
        bad("float", json!([1.5])),
        bad("float", json!({})),
    ]
}

fn truths() -> Vec<Case> {
    let mut cases = vec![same("bool", json!(true)), same("bool", json!(false))];
    for (value, truth) in [
        (json!("yes"), true),
        (json!("no"), false),
        (json!("Yes"), true),
        (json!("NO"), false),
        (json!("on"), true),
        (json!("off"), false),
        (json!("true"), true),
        (json!("FALSE"), false),
        (json!("1"), true),
        (json!("0"), false),
        (json!(1), true),
        (json!(0), false),
    ] {
        cases.push(("bool", value, Some(json!(truth))));
    }
    for value in [
        json!(2),
        json!(-1),
        json!(1.0),
        json!(0.5),
        json!(""),
        json!(" yes"),
        json!("y"),
        json!("да"),
        json!("ｙｅｓ"),
        json!("yes\u{0}"),
        json!("２"),
        json!([]),
        json!([true]),
        json!({}),
    ] {
        cases.push(bad("bool", value));
    }
    cases
}

fn days() -> Vec<Case> {
    let mut cases = Vec::new();
    for good in ["2026-12-02", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "2026-01-31"] {
        cases.push(same("date", json!(good)));
        cases.push(("datetime", json!(good), Some(json!(format!("{good} 00:00:00")))));
    }
    for bad_day in [
        "2026-02-31",
        "31 February",
        "2026-02-29",
        "1900-02-29",
        "2026-04-31",
        "2026-13-01",
        "2026-00-10",
        "2026-01-00",
        "0000-01-01",
        "2026-1-2",
        "26-01-02",
        "02.12.2026",
        "2026/12/02",
        "20261202",
        "+2026-12-02",
        "-2026-12-02",
        "2026-12-02 ",
        " 2026-12-02",
        "２０２６-12-02",
        "٢٠٢٦-12-02",
        "2026-12-0a",
        "2026-12-02Z",
        "",
        "today",
    ] {
        cases.push(bad("date", json!(bad_day)));
        cases.push(bad("datetime", json!(bad_day)));
    }
    cases.extend([
        bad("date", json!(20_261_202)),
        bad("date", json!("2026-12-02 10:00")),
        bad("date", json!(["2026-12-02"])),
        bad("date", json!(true)),
        bad("date", json!({})),
    ]);
    cases
}

fn times() -> Vec<Case> {
    let mut cases = Vec::new();
    for (good, told) in
        [("10:00", "10:00:00"), ("00:00", "00:00:00"), ("23:59:59", "23:59:59"), ("09:05:07", "09:05:07")]
    {
        cases.push(("time", json!(good), Some(json!(told))));
        let day = format!("2026-12-02 {good}");
        cases.push(("datetime", json!(day), Some(json!(format!("2026-12-02 {told}")))));
        let day = format!("2026-12-02T{good}");
        cases.push(("datetime", json!(day), Some(json!(format!("2026-12-02 {told}")))));
    }
    for wrong in [
        "24:00",
        "23:60",
        "23:59:60",
        "9:00",
        "10",
        "10:0",
        "10:00:00.5",
        "10:00:00:00",
        "10-00",
        "10:00 ",
        "١٠:٠٠",
        "",
        "noon",
        "10:00Z",
        "-1:00",
        "+1:00",
    ] {
        cases.push(bad("time", json!(wrong)));
        cases.push(bad("datetime", json!(format!("2026-12-02 {wrong}"))));
    }
    cases.extend([
        bad("time", json!(10)),
        bad("time", json!(["10:00"])),
        bad("datetime", json!("2026-02-31 10:00")),
        bad("datetime", json!("2026-12-02  10:00")),
        bad("datetime", json!("2026-12-02t10:00")),
        bad("datetime", json!(1_764_633_600)),
        bad("datetime", json!({})),
    ]);
    cases
}

fn structures() -> Vec<Case> {
    vec![
        same("json", json!([])),
        same("json", json!({})),
        same("json", json!([1, [2, [null]], {"a": null}])),
        same("json", json!({"a": {"b": [true, 1.5, "x"]}})),
        bad("json", json!("[]")),
        bad("json", json!("text")),
        bad("json", json!(1)),
        bad("json", json!(false)),
        bad("json", json!(["a\u{0}"])),
        bad("json", json!({"a\u{0}": 1})),
        bad("json", json!([[{"deep": ["\u{0}"]}]])),
        same("jsonl", json!([])),
        same("jsonl", json!([{}])),
        same("jsonl", json!([{"sku": "a"}, {"sku": null, "more": [1]}])),
        bad("jsonl", json!([null])),
        bad("jsonl", json!([{"a": 1}, null])),
        bad("jsonl", json!([1])),
        bad("jsonl", json!([[{"a": 1}]])),
        bad("jsonl", json!(["{}"])),
        bad("jsonl", json!({"a": 1})),
        bad("jsonl", json!("{\"a\": 1}")),
        bad("jsonl", json!([{"a": "\u{0}"}])),
        bad("jsonl", json!(1)),
        bad("files", json!([])),
        bad("files", json!("a.png")),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        ("int/json", json!(5), Some(json!([5]))),
        ("int/json", json!("5"), Some(json!([5]))),
        ("int/json", json!([5]), Some(json!([5]))),
        ("int/json", json!(["5", 6, 7.0]), Some(json!([5, 6, 7]))),
        bad("int/json", json!([])),
        bad("int/json", json!([[5]])),
        bad("int/json", json!([5, null])),
        bad("int/json", json!([null])),
        bad("int/json", json!([5, "x"])),
        bad("int/json", json!({"a": 5})),
        bad("int/json", json!("[5]")),
        ("str/json", json!("a"), Some(json!(["a"]))),
        ("str/json", json!(["a", 5, true]), Some(json!(["a", "5", "true"]))),
        bad("str/json", json!([])),
        bad("str/json", json!([["a"]])),
        bad("str/json", json!([{"a": 1}])),
        bad("str/json", json!(["a", "b\u{0}"])),
        ("bool/json", json!(["yes", 0]), Some(json!([true, false]))),
        bad("bool/json", json!(["yes", "maybe"])),
        ("float/json", json!([1, 2.5]), Some(json!([1.0, 2.5]))),
        bad("float/json", json!(["1"])),
        ("date/json", json!("2026-12-02"), Some(json!(["2026-12-02"]))),
        bad("date/json", json!(["2026-12-02", "2026-02-31"])),
        ("time/json", json!(["10:00"]), Some(json!(["10:00:00"]))),
        ("datetime/json", json!(["2026-12-02"]), Some(json!(["2026-12-02 00:00:00"]))),
    ]
}

#[test]
fn every_type_takes_what_it_says_and_nothing_else() {
    let cases: Vec<Case> =
        [texts(), ints(), floats(), truths(), days(), times(), structures(), lists()].concat();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    for (kind, value, wanted) in cases {
        let got = FieldType::parse(kind).unwrap().taken(value.clone());
        match wanted {
            Some(wanted) => assert_eq!(got, Ok(wanted), "{kind} {value}"),
            None => assert!(got.is_err(), "{kind} {value} gives {got:?}"),
        }
    }
}

#[test]
fn what_json_itself_cannot_say_comes_from_no_file() {
    for text in [r#"["\ud800"]"#, r#"["\udc00x"]"#, "[1e400]", "[-1e400]", "[NaN]", "[01]", "[1,]"] {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
}

#[test]
fn types_that_are_none_are_none() {
    for text in [
        "",
        "text",
        "Int",
        "int/",
        "/json",
        "int/jsonl",
        "int/json/json",
        "json/json",
        "files/json",
        "jsonl/json",
        " int",
    ] {
        assert_eq!(FieldType::parse(text), None, "{text}");
    }
}

fn field(name: &str, kind: &str) -> Field {
    Field {
        name: name.to_owned(),
        kind: kind.to_owned(),
        required: false,
        default: None,
        descr: format!("What {name} is"),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn fields_are_looked_at_in_the_order_unknown_missing_wrong_default() {
    let fields = [
        Field { required: true, ..field("id", "int") },
        Field { default: Some("[\"a\"]".to_owned()), ..field("tags", "str/json") },
        Field { default: Some("null".to_owned()), ..field("note", "str") },
    ];
    let of = |given: Value| taken(&fields, object(given));
    assert_eq!(of(json!({"id": "7"})), Ok(object(json!({"id": 7, "tags": ["a"]}))));
    assert_eq!(
        of(json!({"id": 7, "tags": null, "note": ""})),
        Ok(object(json!({"id": 7, "tags": ["a"], "note": ""})))
    );
    assert_eq!(of(json!({"Id": 7, "tags": 1})), Err(Mistake::Unknown("Id".to_owned())));
    // One that is null is not named, and so is not unknown either.
    assert_eq!(of(json!({"id": 7, "more": null})), Ok(object(json!({"id": 7, "tags": ["a"]}))));
    let missing = Mistake::Missing { name: "id".to_owned(), descr: "What id is".to_owned() };
    assert_eq!(of(json!({"tags": []})), Err(missing.clone()));
    assert_eq!(of(json!({"id": null})), Err(missing));
    let Err(Mistake::Wrong { name, kind, got, .. }) = of(json!({"id": "x", "tags": []})) else { panic!() };
    assert_eq!((name.as_str(), kind.as_str(), got.as_str()), ("id", "int", "the text `x`"));
}

#[test]
fn what_the_registry_declares_wrongly_is_told_apart_from_what_a_call_does_wrong() {
    for broken in [
        field("a", "text"),
        Field { default: Some("5".to_owned()), ..field("a", "date") },
        Field { default: Some("no json".to_owned()), ..field("a", "str") },
    ] {
        let given = if broken.kind == "text" { json!({"a": 1}) } else { json!({}) };
        let got = taken(&[broken], object(given));
        assert!(matches!(&got, Err(Mistake::Declared { name, .. }) if name == "a"), "{got:?}");
    }
    let files = [Field { required: true, ..field("pictures", "files") }];
    assert_eq!(taken(&files, Map::new()), Ok(Map::new()));
    let named = taken(&files, object(json!({"pictures": ["a.png"]})));
    assert_eq!(named, Err(Mistake::Attachment("pictures".to_owned())));
}

#[test]
fn a_long_foreign_value_is_told_short_and_without_control_characters() {
    let got = taken(&[field("id", "int")], object(json!({"id": format!("\u{1b}[31m{}", "x".repeat(500))})));
    let Err(Mistake::Wrong { got, .. }) = got else { panic!() };
    assert!(got.chars().count() < 120 && !got.contains('\u{1b}'), "{got}");
}
