//! Tests of keeping requests and their answers together.

use serde_json::{Value, json};

use super::PendingRequests;

fn echo(id: &Value) -> Vec<u8> {
    id.to_string().into_bytes()
}

#[test]
fn an_answer_goes_out_under_the_id_of_its_request() {
    let mut pending = PendingRequests::default();
    let numbers: Vec<i64> = [json!("a"), json!(0), json!(u64::MAX), json!(0)]
        .into_iter()
        .map(|id| pending.open(id, None))
        .collect();
    assert_eq!(pending.close(numbers[1], echo), Some(b"0".to_vec()));
    assert_eq!(pending.close(numbers[0], echo), Some(b"\"a\"".to_vec()));
    assert_eq!(pending.close(numbers[3], echo), Some(b"0".to_vec()));
    assert_eq!(pending.close(numbers[2], echo), Some(u64::MAX.to_string().into_bytes()));
    assert_eq!(pending.close(numbers[2], echo), None);
}

#[test]
fn a_batch_is_answered_when_its_last_request_is() {
    let mut pending = PendingRequests::default();
    let batch = pending.open_batch();
    let one = pending.open(json!(1), Some(batch));
    pending.add(batch, b"wrong".to_vec());
    let two = pending.open(json!(2), Some(batch));
    assert_eq!(pending.close(one, echo), None);
    assert_eq!(pending.seal(batch), None);
    assert_eq!(pending.close(two, echo), Some(b"[wrong,1,2]".to_vec()));
}

#[test]
fn a_batch_of_notifications_has_no_answer() {
    let mut pending = PendingRequests::default();
    let batch = pending.open_batch();
    assert_eq!(pending.seal(batch), None);
}

#[test]
fn a_cancelled_request_holds_up_no_batch() {
    let mut pending = PendingRequests::default();
    let batch = pending.open_batch();
    let one = pending.open(json!(1), Some(batch));
    let two = pending.open(json!(2), Some(batch));
    assert_eq!(pending.seal(batch), None);
    assert_eq!(pending.close(one, echo), None);
    assert_eq!(pending.cancel(&json!(2)), (vec![two], vec![b"[1]".to_vec()]));
    assert_eq!(pending.cancel(&json!(2)), (vec![], vec![]));
}
