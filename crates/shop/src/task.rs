//! States of the scheduler's tasks.

/// Given to its executor, not looked at yet.
pub const NEW: &str = "kNew";
/// Given to another executor than at first.
pub const REASSIGN: &str = "kReassign";
/// The executor works on it.
pub const ACCEPT: &str = "kAccept";
/// Something must be cleared up first.
pub const CLARIFY: &str = "kClarify";
/// Handed in to its creator.
pub const COMPLETE: &str = "kComplete";
/// Over.
pub const CLOSE: &str = "kClose";

/// All states, in the order a task goes through them.
pub const STATES: [&str; 6] = [NEW, REASSIGN, ACCEPT, CLARIFY, COMPLETE, CLOSE];

/// Whether the move is the person's, who is the task's creator, its executor or both.
pub fn waits_for(state: &str, is_creator: bool, is_executor: bool) -> bool {
    match state {
        NEW | REASSIGN | CLARIFY => is_executor,
        COMPLETE => is_creator,
        _ => false,
    }
}

/// Whether the task is open and given by the person to somebody else.
pub fn is_given(state: &str, is_creator: bool, is_executor: bool) -> bool {
    is_creator && !is_executor && state != CLOSE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_move_is_the_executors_until_the_task_is_handed_in() {
        let moves = STATES.map(|state| (waits_for(state, false, true), waits_for(state, true, false)));
        assert_eq!(
            moves,
            [(true, false), (true, false), (false, false), (true, false), (false, true), (false, false)]
        );
    }

    #[test]
    fn a_task_for_oneself_is_not_given_and_a_closed_one_neither() {
        assert!(is_given(COMPLETE, true, false));
        assert!(!is_given(COMPLETE, true, true));
        assert!(!is_given(CLOSE, true, false));
        assert!(!is_given(NEW, false, true));
    }
}
