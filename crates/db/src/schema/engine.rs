//! What the engine keeps for itself, and the journal.

use super::spec::{Section, TableSpec, columns};

const SHORT_LIVED: &str = "it tells who works at the moment, and outlives nothing";
const OWN: &str = "the engine's own";
const NOT_SHOWN: &str = "no page shows it";

/// The engine's own.
pub(super) const ENGINE: Section = Section {
    title: "The engine's own",
    tables: &[
        TableSpec::new(
            "tickets",
            "who is signed in",
            columns! {
                hash "BLAKE3 hash of the ticket", secret;
                user_id "whose it is";
                password_version "version of the password it was got with";
                address "address it was got from";
                kind "`agent` or `program`";
                created "when it was got";
                used "when it was used last";
            },
        )
        .secret()
        .not_journalled(SHORT_LIVED)
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "calls",
            "answers to calls that wrote, for 24 hours, so that a repeated call is not done twice",
            columns! {
                key "the call's key";
                user_id "the person";
                command "the command";
                params_hash "hash of its parameters";
                answer "the answer, JSON", secret;
                time;
            },
        )
        .secret()
        .not_journalled("the calls themselves are")
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "attempts",
            "wrong passwords",
            columns! {
                kind "`login` or `address`";
                subject "the login or the address", secret;
                count "how many in a row";
                last "when the last one came";
            },
        )
        .secret()
        .not_journalled(SHORT_LIVED)
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "leases",
            "tables that somebody has in work",
            columns! {
                table_name "the table";
                holder "who holds it: a random word", secret;
                user_id "the person";
                what "what they do", store;
                since "since when";
                until "until when, if not renewed";
            },
        )
        .closed()
        .not_journalled(SHORT_LIVED)
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "secrets",
            "what the engine's nodes know and nobody else",
            columns! { skey; value "the secret", secret; },
        )
        .secret()
        .not_journalled(OWN)
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "migrations",
            "which steps brought the tables to their form",
            columns! { number "number of the step"; name "its name"; applied "when it was run"; },
        )
        .closed()
        .not_journalled(OWN)
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "changes",
            "which rows were changed of late, for the nodes' caches; triggers write it",
            columns! {
                id;
                table_name "the table; `*`: anything may have changed, `-`: what came before was removed";
                row_id "the row's number; empty: any row of the table";
                transaction_id "with PostgreSQL: the transaction";
            },
        )
        .closed()
        .not_journalled(OWN)
        .not_told("it is what tells"),
    ],
};

/// The journal.
pub(super) const JOURNAL: Section = Section {
    title: "The journal",
    tables: &[
        TableSpec::new(
            "journal",
            "what changed something: calls of agents, people, visitors, the store by itself",
            columns! {
                id;
                time;
                actor "who: `agent`, `person`, `visitor`, or `store` for the store by itself and other programs";
                user_id "the person";
                princ_id "the principal whose right let the call through; may be empty";
                command "the command";
                tool "the tool";
                application "the agent application", store;
                topic "the conversation", store;
                event "the event that launched the session; may be empty";
                key "the call's key; may be empty";
                refusal "always empty: a refused call leaves no trace in the database";
            },
        )
        .closed()
        .not_journalled("it is the journal")
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "journal_changes",
            "what an entry changed, row by row; triggers write it",
            columns! {
                id;
                journal_id "the entry";
                table_name "the table of the row";
                row_id "the row's number; 0 where rows have none";
                before "the row before, JSON, of a changed one the columns that differ; empty where it was not there", visitor;
                after "the row after; empty where it is gone. `{\"changed\": true}` stands for a secret, `hash` and `size` for a long value", visitor;
            },
        )
        .closed()
        .not_journalled("it is the journal")
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "journal_values",
            "values over 64 KiB, each once",
            columns! {
                hash "SHA-256 of the value, as JSON";
                journal_id "the newest entry that names it";
                value "the value, JSON", visitor;
            },
        )
        .closed()
        .not_journalled("it is the journal")
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "journal_context",
            "what the triggers of the journal know of the transaction that writes at the moment",
            columns! { id; entry "its entry; 0: its changes are not journalled; empty between transactions"; },
        )
        .closed()
        .not_journalled("it is the journal")
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "jobs",
            "what the engine's nodes do by themselves, one of them at a time",
            columns! {
                id;
                name "the job";
                done "up to which moment it is done";
                seen "which commits it has followed, as the database counts them; may be empty";
            },
        )
        .closed()
        .not_journalled(OWN)
        .not_told(NOT_SHOWN),
        TableSpec::new(
            "file_versions",
            "what each file of the store was at each save; contents lie under `core/versions/`, by their hash",
            columns! {
                id;
                path "the file, from the store's root";
                hash "BLAKE3 hash of the content; empty: the file was removed";
                size "bytes";
                user_id "the person; empty: it was changed on the server's disk, and noted before the next save";
                time;
                application "the agent application", store;
                tool "the tool";
                moved_from "the path it had before, where a rename began this one; may be empty";
            },
        )
        .closed()
        .not_told(NOT_SHOWN),
    ],
};
