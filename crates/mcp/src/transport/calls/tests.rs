//! Tests of keeping requests and their answers together.

use serde_json::{Value, json};

use super::Calls;

fn echo(id: &Value) -> Vec<u8> {
    id.to_string().into_bytes()
}

#[test]
fn an_answer_goes_out_under_the_id_of_its_request() {
    let mut calls = Calls::default();
    let numbers: Vec<i64> = [json!("a"), json!(0), json!(u64::MAX), json!(0)]
        .into_iter()
        .map(|id| calls.open(id, None))
        .collect();
    assert_eq!(calls.close(numbers[1], echo), Some(b"0".to_vec()));
    assert_eq!(calls.close(numbers[0], echo), Some(b"\"a\"".to_vec()));
    assert_eq!(calls.close(numbers[3], echo), Some(b"0".to_vec()));
    assert_eq!(calls.close(numbers[2], echo), Some(u64::MAX.to_string().into_bytes()));
    assert_eq!(calls.close(numbers[2], echo), None);
}

#[test]
fn a_batch_is_answered_when_its_last_request_is() {
    let mut calls = Calls::default();
    let batch = calls.open_batch();
    let one = calls.open(json!(1), Some(batch));
    calls.add(batch, b"wrong".to_vec());
    let two = calls.open(json!(2), Some(batch));
    assert_eq!(calls.close(one, echo), None);
    assert_eq!(calls.seal(batch), None);
    assert_eq!(calls.close(two, echo), Some(b"[wrong,1,2]".to_vec()));
}

#[test]
fn a_batch_of_notifications_has_no_answer() {
    let mut calls = Calls::default();
    let batch = calls.open_batch();
    assert_eq!(calls.seal(batch), None);
}

#[test]
fn a_cancelled_request_holds_up_no_batch() {
    let mut calls = Calls::default();
    let batch = calls.open_batch();
    let one = calls.open(json!(1), Some(batch));
    let two = calls.open(json!(2), Some(batch));
    assert_eq!(calls.seal(batch), None);
    assert_eq!(calls.close(one, echo), None);
    assert_eq!(calls.cancel(&json!(2)), (vec![two], vec![b"[1]".to_vec()]));
    assert_eq!(calls.cancel(&json!(2)), (vec![], vec![]));
}
