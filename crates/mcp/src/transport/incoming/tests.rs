//! Tests of reading messages.

use proptest::prelude::*;
use rmcp::model::{ClientRequest, ErrorCode};
use serde_json::{Value, json};

use super::{Incoming, OddArguments, Wrong, read};

const PARSE: ErrorCode = ErrorCode::PARSE_ERROR;
const INVALID: ErrorCode = ErrorCode::INVALID_REQUEST;
const PARAMS: ErrorCode = ErrorCode::INVALID_PARAMS;
const METHOD: ErrorCode = ErrorCode::METHOD_NOT_FOUND;

fn wrong(line: &[u8]) -> (Value, ErrorCode) {
    match read(line) {
        Incoming::Wrong(Wrong { id, code, .. }) => (id, code),
        other => panic!("{} gave {other:?}", String::from_utf8_lossy(line)),
    }
}

fn request(line: Value) -> ClientRequest {
    match read(line.to_string().as_bytes()) {
        Incoming::Request { request, .. } => *request,
        other => panic!("{line} gave {other:?}"),
    }
}

fn call(arguments: Value) -> ClientRequest {
    request(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": arguments}}),
    )
}

#[test]
fn an_id_that_cannot_be_told_back_as_it_was_is_refused() {
    for id in ["123456789012345678901234567890", "1e300", "-1e18"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(wrong(line.as_bytes()), (Value::Null, INVALID), "{id}");
    }
}

#[test]
fn broken_input_gets_the_codes_of_the_protocol() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"ping","params":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let rows: &[(&[u8], Value, ErrorCode)] = &[
        (b"not json", Value::Null, PARSE),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", Value::Null, PARSE),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\\ud800\"}}",
            json!(1),
            PARSE,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", json!(2), PARSE),
        (deep.as_bytes(), json!(8), PARSE),
        (b"1", Value::Null, INVALID),
        (b"\"ping\"", Value::Null, INVALID),
        (b"null", Value::Null, INVALID),
        (b"[]", Value::Null, INVALID),
        (b"{}", Value::Null, INVALID),
        (b"{\"foo\":\"bar\"}", Value::Null, INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3}", json!(3), INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":7}", json!(3), INVALID),
        (b"{\"jsonrpc\":\"1.0\",\"id\":3,\"method\":\"ping\"}", json!(3), INVALID),
        (b"{\"id\":3,\"method\":\"ping\"}", json!(3), INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", Value::Null, INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", Value::Null, INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", json!(1.5), INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"result\":1}", json!(3), INVALID),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"no/such\"}", json!(3), METHOD),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/list\"}", json!(3), METHOD),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":[]}", json!(3), PARAMS),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":5}}",
            json!(3),
            PARAMS,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"_meta\":5}}",
            json!(3),
            PARAMS,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\"}", json!(3), PARAMS),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":5}}",
            json!(3),
            PARAMS,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"initialize\",\"params\":{}}", json!("s"), PARAMS),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}",
            json!(3),
            PARAMS,
        ),
    ];
    for (line, id, code) in rows {
        assert_eq!(wrong(line), (id.clone(), *code), "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn what_wants_no_answer_gets_none() {
    for line in [
        "",
        "   \r",
        "\u{feff}",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
    ] {
        assert!(matches!(read(line.as_bytes()), Incoming::Nothing), "{line}");
    }
}

#[test]
fn a_bom_and_line_ends_of_windows_are_no_part_of_a_message() {
    let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
    assert!(matches!(read(line.as_bytes()), Incoming::Request { .. }));
}

#[test]
fn an_odd_handshake_is_accepted() {
    for params in [
        json!({"protocolVersion": "2025-06-18", "capabilities": null, "clientInfo": {"name": "x"}}),
        json!({"protocolVersion": "2025-06-18"}),
        json!({"protocolVersion": "1999-01-01", "capabilities": {"roots": 5, "x": []}, "clientInfo": null}),
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": 1, "version": 2}, "more": 1}),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        assert!(matches!(request(line), ClientRequest::InitializeRequest(_)));
    }
}

#[test]
fn arguments_in_a_string_are_read() {
    let ClientRequest::CallToolRequest(call) = call(json!("{\"topic\": \"x\"}")) else { panic!() };
    assert_eq!(call.params.arguments, json!({"topic": "x"}).as_object().cloned());
    assert!(call.extensions.get::<OddArguments>().is_none());
}

#[test]
fn arguments_that_are_no_object_are_left_to_the_tool() {
    for (arguments, words) in [
        (json!("text"), "the text `text`"),
        (json!("[1]"), "the text `[1]`"),
        (json!([1, 2]), "a list of 2"),
        (json!(5), "5"),
        (json!(false), "false"),
    ] {
        let ClientRequest::CallToolRequest(call) = call(arguments) else { panic!() };
        assert_eq!(call.extensions.get::<OddArguments>(), Some(&OddArguments(words.to_owned())));
    }
    for arguments in [json!(null), json!({})] {
        let ClientRequest::CallToolRequest(call) = call(arguments) else { panic!() };
        assert!(call.extensions.get::<OddArguments>().is_none());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(line in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&line);
    }

    #[test]
    fn any_edit_of_a_message_is_survived(at in 0_usize..120, byte in any::<u8>()) {
        let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,"b"]}},"_meta":{}}"#.to_vec();
        let at = at % line.len();
        line[at] = byte;
        let _ = read(&line);
    }
}
