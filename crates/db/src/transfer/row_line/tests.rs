//! Tests of rows as lines.

use proptest::prelude::*;

use super::super::table::Column;
use super::*;

fn table(kinds: &[Kind]) -> Table {
    let column = |(at, kind): (usize, &Kind)| Column { name: format!("c{at}"), kind: *kind };
    Table {
        name: "t".to_owned(),
        columns: kinds.iter().enumerate().map(column).collect(),
        key: vec!["c0".to_owned()],
        numbered: false,
    }
}

const ALL: [Kind; 5] = [Kind::Int, Kind::Bool, Kind::Real, Kind::Text, Kind::Bytes];

fn line(values: &[Value]) -> String {
    let mut line = Vec::new();
    write(values, &mut line);
    String::from_utf8(line).unwrap()
}

#[test]
fn a_row_is_a_line_that_people_can_read() {
    let row = [
        Value::Int(-7),
        Value::Bool(true),
        Value::Real(0.1),
        Value::Text("a \"b\"\n\u{0}я".into()),
        Value::Bytes(vec![0, 255]),
    ];
    assert_eq!(line(&row), "[-7,true,\"0.1\",\"a \\\"b\\\"\\n\\u0000я\",\"00ff\"]\n");
    assert_eq!(line(&[Value::Null, Value::Real(f64::INFINITY)]), "[null,\"inf\"]\n");
}

#[test]
fn only_the_written_form_is_read() {
    let table = table(&ALL);
    let good = "[1,true,\"0.5\",\"x\",\"00ff\"]\n";
    assert!(parse(good.as_bytes(), &table).is_ok());
    for bad in [
        "",
        "\n",
        "[]\n",
        "[1,true,\"0.5\",\"x\",\"00ff\"]",
        "[1,true,\"0.5\",\"x\",\"00ff\"]\n\n",
        "[ 1,true,\"0.5\",\"x\",\"00ff\"]\n",
        "[1,true,\"0.50\",\"x\",\"00ff\"]\n",
        "[1,true,0.5,\"x\",\"00ff\"]\n",
        "[1,true,\"0.5\",\"x\",\"00FF\"]\n",
        "[1,true,\"0.5\",\"x\",\"00f\"]\n",
        "[1,true,\"0.5\",\"x\",\"я\"]\n",
        "[1,1,\"0.5\",\"x\",\"00ff\"]\n",
        "[1.5,true,\"0.5\",\"x\",\"00ff\"]\n",
        "[99999999999999999999,true,\"0.5\",\"x\",\"00ff\"]\n",
        "[1,true,\"0.5\",\"\\u0078\",\"00ff\"]\n",
        "[1,true,\"0.5\",\"x\",\"00ff\",null]\n",
        "{\"a\":1}\n",
    ] {
        assert!(parse(bad.as_bytes(), &table).is_err(), "{bad}");
    }
}

fn any_value(kind: Kind) -> BoxedStrategy<Value> {
    let value = match kind {
        Kind::Int => any::<i64>().prop_map(Value::Int).boxed(),
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Real => any::<f64>().prop_map(Value::Real).boxed(),
        Kind::Text => any::<String>().prop_map(Value::Text).boxed(),
        Kind::Bytes => any::<Vec<u8>>().prop_map(Value::Bytes).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 4 => value].boxed()
}

proptest! {
    #[test]
    fn every_row_comes_back_from_its_line(mut row in ALL.map(any_value).to_vec()) {
        for (value, kind) in row.iter_mut().zip(ALL) {
            prop_assume!(kind.fit(value).is_ok());
        }
        let line = line(&row);
        prop_assert_eq!(line.matches('\n').count(), 1);
        prop_assert!(parse(line.as_bytes(), &table(&ALL)).unwrap() == row);
    }

    #[test]
    fn no_line_breaks_the_reader(line in any::<Vec<u8>>(), kinds in prop::collection::vec(prop::sample::select(&ALL), 0..4)) {
        let _ = parse(&line, &table(&kinds));
    }
}
