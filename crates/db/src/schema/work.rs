//! What people and agents work with: notes, tasks, events, AI tools, the repository.

use super::spec::{Section, TableSpec, columns};

/// Notes, tasks, events.
pub(super) const WORK: Section = Section {
    title: "Work",
    tables: &[
        TableSpec::new(
            "notes",
            "the store's memory",
            columns! {
                id;
                level "whom it is for: `all`, `group`, `own`";
                user_id "the person, for `own`";
                group_id "the group, for `group`";
                kind_key "kind, of the list `note_kind`";
                name, store;
                category "category", store;
                info "what it is about, in a line", store;
                body "the note, simple HTML", store;
                edit_time "when it was changed";
            },
        ),
        TableSpec::new(
            "tasks",
            "the scheduler's tasks",
            columns! {
                id;
                creator_id "who gave it";
                executor_id "who shall do it";
                state "`kNew`, `kReassign`, `kAccept`, `kClarify`, `kComplete`, `kClose`";
                name "what is to be done, in a line", store;
                body "the same in full", store;
                created "when it was given";
                changed "when its state changed last";
                due "by when; may be empty";
            },
        ),
        TableSpec::new(
            "task_notes",
            "answers and comments to tasks",
            columns! { id; task_id "the task"; user_id "author"; time; body "text", store; },
        ),
        TableSpec::new(
            "events",
            "what happened in the store, and for whom",
            columns! {
                id;
                user_id "author; empty is the store itself";
                to_user "the person it is addressed to; or";
                to_group "the group";
                princ_id "the principal it names; may be empty";
                key "key, of the list `event_key`";
                state "state, of the list `event_state`";
                time "when it was raised";
                data "what it carries, JSON", visitor;
                attempts "how often it was taken";
                outcome "what its last session said of it", store;
            },
        ),
    ],
};

/// The store's own AI tools.
pub(super) const AI_TOOLS: Section = Section {
    title: "AI tools",
    tables: &[
        TableSpec::new(
            "ai_tools",
            "the tree of the store's own AI tools: folders and tools",
            columns! {
                id;
                parent_id "the folder it lies in; empty at the top";
                position;
                unit "the tool's address in capitals; empty for folders";
                name, store;
                descr "description for the model", store;
            },
        )
        .tree(),
        TableSpec::new(
            "ai_commands",
            "commands of the tools",
            columns! {
                id;
                tool_id "the tool";
                position;
                name "name of the function, `Cmd…`";
                descr "description", store;
            },
        ),
        TableSpec::new(
            "ai_fields",
            "fields of the commands",
            columns! {
                id;
                command_id "the command";
                position;
                name;
                type "`str`, `int`, `float`, `bool`, `date`, `time`, `datetime`, `json`, `jsonl`, `files`, or one with `/json`";
                required "whether a call must name it";
                default_value "the value where a call does not name it, JSON; may be empty", store;
                descr "description", store;
            },
        ),
        TableSpec::new(
            "ai_grants",
            "commands granted to people and groups",
            columns! {
                id;
                command_id "the command";
                user_id "the person; or";
                group_id "the group: exactly one of the two";
            },
        ),
    ],
};

/// The repository.
pub(super) const REPOSITORY: Section = Section {
    title: "The repository",
    tables: &[
        TableSpec::new(
            "repo_sections",
            "the sections in which assistants keep working data for each other",
            columns! {
                id;
                parent_id "the section it lies in; empty at the top";
                position;
                skey "key; may be empty";
                name, store;
                descr "what it is for", store;
                kind_key "kind, of the list `repo_kind`";
            },
        )
        .tree(),
        TableSpec::new(
            "repo_flags",
            "who may do what in a section; rows add up, and who has no flag does not see the section",
            columns! {
                id;
                section_id "the section";
                user_id "the person; or";
                group_id "the group: exactly one of the two";
                topic_list "whether topics may be listed";
                topic_create "added";
                topic_update "changed";
                topic_remove "removed";
                store_read "whether records may be read";
                store_write "added";
            },
        ),
        TableSpec::new(
            "repo_topics",
            "topics of the sections",
            columns! {
                id;
                section_id "the section";
                user_id "who made it";
                name "name, unique in the section whatever the case of its letters", store;
                name_folded "the name in small letters";
                descr "description", store;
                params "a line of words that belong to it", store;
                created "when it was made";
                changed "when it was changed last";
            },
        ),
        TableSpec::new(
            "repo_records",
            "records of the topics; they are never changed, the last one is the topic's state",
            columns! {
                id;
                topic_id "the topic";
                user_id "the person";
                time;
                author "the assistant, in its own words", store;
                comment "what was done", store;
                body "the record", store;
                appendix "what belongs to it; may be empty", store;
            },
        ),
    ],
};
