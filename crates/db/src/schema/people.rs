//! People of the store, their rights, names and lists.

use super::spec::{Section, TableSpec, columns};

/// People.
pub(super) const PEOPLE: Section = Section {
    title: "People",
    tables: &[
        TableSpec::new(
            "users",
            "the people of the store",
            columns! {
                id;
                login "login, unique; its spellings in other capitals are the same one", store;
                login_folded "the login in the form in which it is compared; empty where an older store has two of them";
                name, store;
                password_hash "Argon2id hash of the password", secret;
                password_version "grows with every change of the password, so that older tickets end";
                blocked "whether they may not work";
                main_group "main group; may be empty";
                created "when they were added";
            },
        ),
        TableSpec::new(
            "groups",
            "groups of people",
            columns! {
                id;
                skey "key; may be empty. `ADMIN` is the administrators' group";
                name, store;
                position;
            },
        ),
        TableSpec::new(
            "user_groups",
            "a person's groups besides the main one",
            columns! { user_id "the person"; group_id "the group"; },
        ),
        TableSpec::new(
            "options",
            "options that the owner sets for people or groups",
            columns! {
                id;
                target "`user` or `group`";
                skey "key; may be empty. Agents are told only options with a key";
                name, store;
                position;
            },
        ),
        TableSpec::new(
            "option_values",
            "the list of an option; an option without a list takes free text",
            columns! {
                id;
                option_id "the option";
                skey "key; may be empty, then the name is told";
                name, store;
                position;
            },
        ),
        TableSpec::new(
            "user_options",
            "what options are set to for people",
            columns! {
                user_id "the person";
                option_id "the option";
                value_id "value of the list; empty for free text";
                value "free text; empty for a value of the list", store;
            },
        ),
        TableSpec::new(
            "group_options",
            "the same for groups",
            columns! {
                group_id "the group";
                option_id "the option";
                value_id "value of the list; empty for free text";
                value "free text; empty for a value of the list", store;
            },
        ),
    ],
};

/// Rights.
pub(super) const RIGHTS: Section = Section {
    title: "Rights",
    tables: &[
        TableSpec::new(
            "operations",
            "the tree of what can be granted: folders and rows",
            columns! {
                id;
                parent_id "the folder it lies in; empty at the top";
                position;
                skey;
                command "the command that a row allows; empty for folders";
                hours_begin "from when it may run, `HH:MM` in the store's time zone; empty with `hours_end`: always";
                hours_end "until when it may run; may lie beyond midnight";
                load_1 "largest load average of a minute under which it may run; 0 is no limit";
                load_5 "the same for five minutes";
                load_15 "the same for fifteen minutes";
                name, store;
            },
        )
        .tree(),
        TableSpec::new(
            "grants",
            "rows granted to people and groups; a person has what they, their main group and their other groups have",
            columns! {
                id;
                operation_id "the row";
                user_id "the person; or";
                group_id "the group: exactly one of the two";
            },
        ),
    ],
};

/// Names and lists.
pub(super) const LISTS: Section = Section {
    title: "Names and lists",
    tables: &[
        TableSpec::new(
            "names",
            "names in the store's languages",
            columns! {
                entity "the table of the named row: `operations`, `groups`, `registry`, …";
                elem_id "the row's number";
                language;
                name, store;
            },
        ),
        TableSpec::new(
            "registry",
            "lists that the owner may extend",
            columns! {
                id;
                branch "the list: `note_kind`, `repo_kind`, `task_state`, `event_key`, `event_state`";
                skey;
                name, store;
                position;
            },
        ),
    ],
};
