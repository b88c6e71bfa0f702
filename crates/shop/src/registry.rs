//! Built-in values of the store's lists; the owner adds more of their own.

/// A list and its built-in keys, in the order people see them.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Key of the list; also of its names in `locales/`.
    pub branch: &'static str,
    /// Keys of the values.
    pub keys: &'static [&'static str],
}

/// All built-in lists.
pub const ALL: &[Branch] = &[
    Branch { branch: "note_kind", keys: &["kCritical", "kDirect", "kSkill", "kDefault"] },
    Branch { branch: "repo_kind", keys: &["kShared", "kPersonal"] },
    Branch {
        branch: "task_state",
        keys: &["kNew", "kReassign", "kAccept", "kClarify", "kComplete", "kClose"],
    },
    Branch {
        branch: "event_key",
        keys: &[
            "kOrderNew",
            "kOrderState",
            "kPaymentReceived",
            "kPaymentFailed",
            "kRefundDue",
            "kRefundFailed",
            "kStockLow",
            "kReviewNew",
            "kMessageNew",
            "kTaskAssigned",
            "kTaskDue",
            "kUnitCrashed",
            "kMailFailed",
            "kSchedule",
        ],
    },
    Branch { branch: "event_state", keys: &["kNew", "kTaken", "kDone", "kFailed", "kCancelled"] },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locales;

    #[test]
    fn every_value_has_a_name() {
        for branch in ALL {
            for key in branch.keys {
                assert!(locales::text("en", &format!("{}.{key}", branch.branch)).is_some(), "{key}");
            }
        }
    }
}
