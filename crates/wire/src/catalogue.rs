//! The catalogue: every refusal there is, declared once.
//!
//! A row: when it is said; name and values; who says it and who mends it; the
//! fixed beginning and the rest; how to go on. The beginnings are a contract
//! and never change, the rest may. See spec: answers.md.

use crate::refusal::Refusal;
use crate::refusal_row::Row;

/// Declares the catalogue: a constructor function for each row and the list of all rows.
macro_rules! refusals {
    ($(
        $(#[doc = $when:literal])+
        $name:ident($($arg:ident: $kind:ty),*) $speaker:ident $mender:ident
        $beginning:literal $rest:literal;
        $mend:literal
    )+) => {
        mod rows {
            use crate::refusal_row::{Mender, Row, Speaker};
            $(
                #[expect(non_upper_case_globals, reason = "one name for the row and its constructor")]
                pub(super) static $name: Row = Row {
                    name: stringify!($name),
                    beginning: $beginning,
                    speaker: Speaker::$speaker,
                    mender: Mender::$mender,
                    when: concat!($($when),+),
                    mend: $mend,
                };
            )+
        }

        /// The refusals of this part of the catalogue, in its order.
        pub(super) const ROWS: &[&$crate::refusal_row::Row] = &[$(&rows::$name),+];

        $(
            $(#[doc = $when])+
            pub fn $name($($arg: $kind),*) -> $crate::refusal::Refusal {
                $crate::refusal::Refusal::new(&rows::$name, &format!($rest))
            }
        )+
    };
}

mod store_files;

pub use store_files::*;

/// Every refusal there is, in the order of the catalogue.
pub static ALL: &[&Row] = &joined::<{ ROWS.len() + store_files::ROWS.len() }>(ROWS, store_files::ROWS);

/// Two parts as one.
const fn joined<const N: usize>(first: &[&'static Row], second: &[&'static Row]) -> [&'static Row; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// The row of this name.
pub fn row(name: &str) -> Option<&'static Row> {
    ALL.iter().copied().find(|row| row.name == name)
}

/// The row whose beginning a text has: the longest fixed one, else one that begins with a value. Of several with one
/// beginning it is that whose advice the text ends with.
pub fn row_of(text: &str) -> Option<&'static Row> {
    let rows = ALL.iter().copied().filter(|row| row.begins(text));
    let advice = |row: &Row| if text.ends_with(row.mend) { row.mend.len() + 1 } else { 0 };
    rows.max_by_key(|row| (!row.printed().is_empty(), row.beginning.len(), advice(row)))
}

/// A refusal that came over the wire. The engine may be newer than this
/// program, so a name that the catalogue lacks is kept as it came.
pub fn received(name: &str, head: &str) -> Refusal {
    match row(name) {
        Some(row) => Refusal::with_head(row, head),
        None => Refusal::unknown(name, head),
    }
}

refusals! {
    // The MCP server's own.

    /// No session is open: it was never opened, signing in failed, or the application restarted the server.
    not_connected() Server Agent
    "Not connected. " "Call \"session_connect\" first.";
    ""

    /// The server is not pinned and the program now has another store open than the session's.
    store_switched(session: &str, program: &str) Server Person
    "STORE_SWITCHED:" " this session works in `{session}`, but the program now has `{program}` open.";
    "Ask the person which store is meant: `session_connect` signs in to the program's store; when the program returns to the session's store, the session goes on by itself."

    /// The login was not granted this tool's command.
    access_denied(command: &str, path: &str) Server Owner
    "ACCESS_DENIED: " "this user may not run {command}. The right is at: {path}.";
    "The store's owner grants it there, in users and rights; then open the session again with `session_connect`."

    /// The rules that cover this tool are not accepted in this session.
    rules_required(tool: &str, code: &str, text: &str) Server Agent
    "RULES_REQUIRED:" " {tool} was not carried out: read the rules below, then call `session_rules_accept` with tool `{tool}` and code `{code}`, and repeat the call.\n\n{text}";
    ""

    /// `session_rules_accept` was called for a tool without rules.
    no_rules(tool: &str) Server Agent
    "NO_RULES: " "{tool} has no rules.";
    "Nothing has to be accepted for it: call the tool itself."

    /// Critical notes of the store's memory are unread.
    notes_unread(count: usize, ids: &str) Server Agent
    "The store asks you to read its kCritical notes" ": {count} unread (ids {ids}).";
    "Until then only `memory_list`, `memory_load` and the session tools work. Call `memory_load` with these ids, then repeat the call."

    /// A licensed store has no token file for today.
    licence_none(folder: &str, file: &str) Server Person
    "LICENCE_NONE:" " this store is licensed, and `{folder}` holds no token in a file `{file}`.";
    "The person opens the store in the program, which fetches the day's token. An open session then works by itself; when signing in, repeat `session_init` and `session_connect`."

    /// There is no tool of this name.
    unknown_tool(name: &str, nearest: &str) Server Agent
    "Unknown tool:" " `{name}`.{nearest}";
    ""

    /// A bug, or the world failing. The text carries what a developer needs.
    internal(cause: &str, incident: &str) Server Developer
    "ERROR:" " {cause} (incident {incident}).";
    "Report this text to the developers of Shopwright; details under this number are in the server's log."

    // Arguments.

    /// A parameter that the tool does not have.
    unknown_parameter(name: &str, known: &str) Server Agent
    "Unknown parameter " "`{name}`. {known}";
    ""

    /// A required parameter is not named.
    missing_parameter(name: &str, about: &str) Server Agent
    "<name> is required" "{name} is required. {about}";
    ""

    /// A parameter's value is of the wrong kind or out of its range.
    wrong_parameter(name: &str, wanted: &str, got: &str) Server Agent
    "Wrong value for parameter " "`{name}`: wanted {wanted}, got {got}.";
    ""

    /// A parameter that takes one of a few words got another, or none.
    not_one_of(name: &str, values: &str, got: &str) Server Agent
    "<name> is one of" "{name} is one of {values}; got {got}.";
    ""

    /// The arguments as a whole are not an object.
    arguments_not_object(got: &str) Server Agent
    "Arguments must be an object" " of named parameters, got {got}.";
    ""

    // Session tools.

    /// `session_connect` without a topic.
    topic_missing() Server Agent
    "topic is required" ": name the conversation with one word of Latin letters, digits, `-` and `_`, 1 to 64 characters.";
    "A session that is already open stays as it was."

    /// The topic holds something else than Latin letters, digits, `-` and `_`, or is too long.
    topic_not_a_word(topic: &str) Server Agent
    "topic [" "{topic}] is not one word: use Latin letters, digits, `-` and `_`, 1 to 64 characters, like `prices-sept`.";
    "A session that is already open stays as it was."

    /// No store was ever opened in the program on this computer.
    no_store() Server Person
    "NO_STORE:" " no store was ever opened in the program on this computer, or the one opened last was taken off its list.";
    "The person starts the program with `shopwright desk` and opens a store there."

    /// This computer names no home directory, so that nobody knows where the program keeps its list of stores.
    no_home() Server Person
    "NO_HOME:" " this process has no home directory: neither SHOPWRIGHT_HOME nor HOME is set, and the system knows none for its user.";
    "The person sets SHOPWRIGHT_HOME to the program's home in the agent application's settings of this server."

    /// The server is pinned to a folder that is not in the program's list, or no folder follows `--store`.
    no_such_store(what: &str) Server Person
    "NO_SUCH_STORE:" " {what}.";
    "Correct `--store` in the agent application's configuration of this server, or open that store in the program once."

    /// `Shop.ini` of the store folder cannot be read.
    no_shop_ini(path: &str, why: &str) Server Person
    "NO_SHOP_INI:" " `{path}` cannot be read: {why}.";
    "Check the store folder: mend the file, or take the store off the program's list and add it again."

    /// There is nowhere to take the password from.
    no_settings(seen: &str) Server Person
    "NO_SETTINGS:" " there is no source for the password: {seen}.";
    "The person opens this store in the program and signs in there, or saves the store's password when signing in."

    /// Plain http to an address that is not this computer, without the person's word.
    plain_http(url: &str) Server Person
    "PLAIN_HTTP:" " the store's address `{url}` is plain http to another computer, and a password would travel readable.";
    "Use the store's https address in `Shop.ini`; who knows the network is safe sets SHOPWRIGHT_ALLOW_PLAIN_HTTP=1 for this server."

    /// A name given to `session_clear` is not a topic.
    not_a_topic(name: &str) Server Agent
    "Not a topic: " "[{name}]. Nothing was removed.";
    "Call `session_clear` without `topics` for the list."

    /// A file of a conversation folder cannot be deleted.
    topic_not_removed(topic: &str, path: &str, why: &str, removed: &str) Server Person
    "Cannot remove topic " "[{topic}]: `{path}`: {why}. Removed before it: {removed}.";
    "Close what holds the file, then repeat."

    // The store's gate, in its order.

    /// `shop.lock` lies in the store's root.
    shop_is_lock() Store ServerAdmin
    "SHOP_IS_LOCK" "";
    "The store is closed for works. Wait until they end; the server's owner opens it with `shopwright store unlock`."

    /// The program needs a newer engine.
    version_server(engine: &str, least: &str) Store ServerAdmin
    "VERSION_SERVER:" " engine {engine}, the program needs {least} or newer";
    "Update the engine in place; never install it anew, which would erase the store."

    /// The engine needs a newer program.
    version_client(program: &str, least: &str) Store Person
    "VERSION_CLIENT:" " program {program}, the engine needs {least} or newer";
    "Update the program on this computer, then restart the agent application."

    /// Program and engine must match exactly and do not.
    version_fail(program: &str, engine: &str) Store ServerAdmin
    "VERSION_FAIL:" " program {program}, engine {engine}";
    "Bring both to one build: update the older one in place."

    /// The caller's clock is more than 10 minutes off UTC.
    licence_date() Store Person
    "LICENCE_DATE" "";
    "Set this computer's clock: it is more than 10 minutes off UTC."

    /// The request's host is not the domain the licence is for.
    licence_domain() Store Person
    "LICENCE_DOMAIN" "";
    "Check the store's address in its connection settings: the licence is for another domain."

    /// The token does not fit login and day, or its signature is wrong.
    licence_error() Store Person
    "LICENCE_ERROR" "";
    "Open the store in the program, so that it fetches the day's licence."

    /// The program asks for licence tokens, but the store's settings do not say where they come from.
    no_licence_source() Store ServerAdmin
    "NO_LICENCE_SOURCE" "";
    "The server's owner sets `licence` with `authority`, and the customer's secret under `secrets`, in the store's config.json."

    /// Login and password do not fit, or the password was changed during the session.
    wrong_password() Store Person
    "WRONG_PASSWORD" "";
    "The person signs in to the store in the program again, or saves the right password; then call `session_connect`."

    /// So many wrong passwords came for this login or from this address that the next tries already queue up.
    too_many_attempts() Store Time
    "TOO_MANY_ATTEMPTS" "";
    "Wrong passwords come for this login or from this address faster than they are checked. Whether this password is right was not looked at: wait a minute, then sign in again."

    /// The ticket of this session is not known any more: it ran out, or this computer's address changed.
    ticket_unknown() Store Agent
    "SESSION_EXPIRED" "";
    "Call `session_connect` again."

    /// The user is blocked, or the right was withdrawn in mid-session.
    access_denied_bare() Store Owner
    "ACCESS_DENIED" "";
    "The user is blocked, or the right was withdrawn after signing in. Call `session_connect` again: if the right is missing, the refusal then names where it is granted."

    /// The caller's address is not in the store's list.
    ip_blocked() Store Owner
    "IP_BLOCKED" "";
    "The owner adds this computer's address to the store's list of addresses (installation, security)."

    /// The daily backup window is on.
    backup_time(begin: &str, end: &str) Store Time
    "BACKUP_TIME: " "{begin} - {end}";
    "The store makes its daily backup and lets nobody in. Wait until the window ends (store's time)."

    /// Less than half an hour before the backup window; about one request in ten gets this.
    backup_soon(begin: &str, end: &str) Store Agent
    "BACKUP_SOON: " "{begin} - {end}";
    "The daily backup is near. Nothing was done: repeat the call, and finish before the window begins (store's time)."

    /// The owner allows this command only in these hours.
    command_timeout(begin: &str, end: &str) Store Owner
    "COMMAND_TIMEOUT: " "{begin} - {end}";
    "The command is allowed only in these hours (store's time). Wait, or ask the owner to change the hours in the user's rights."

    /// The server's load average is over the owner's limit for this command.
    command_load_max(one: f64, five: f64, fifteen: f64) Store Time
    "COMMAND_LOAD_MAX: " "{one:.2} {five:.2} {fifteen:.2}";
    "The server is busy (load averages of 1, 5 and 15 minutes). Repeat later."

    /// The request names a command the engine does not have.
    unknown_command(command: &str) Store ServerAdmin
    "Unknown command: " "{command}";
    "The engine is older than the program: update it in place."

    /// The request is not of the form the engine understands.
    bad_request(why: &str) Store Developer
    "Bad request: " "{why}";
    ""

    /// The engine could not carry the command out.
    engine_failed(incident: &str) Store ServerAdmin
    "Engine failure: " "incident {incident}";
    "Details under this number are in the engine's log. Nothing was changed."

    // What came back, put into words.

    /// Another person, or an open window of the program, holds the table.
    table_in_work(table: &str, who: &str) Words Person
    "The table " "{table} is in work right now, and nothing was written: {who}.";
    "`engine_db_locks` shows who holds it. Repeat later, or ask that person to finish."

    /// A web page came instead of the engine's answer.
    no_endpoint(url: &str, fate: &str) Words ServerAdmin
    "This store has no endpoint for the agent: core/mcp.php is missing" ": a web page came from {url}.{fate}";
    "Usually the storefront answered, because the engine is older than the endpoint: the server's owner updates it. A bot protection in front of the site can answer so too: it must let this address through."

    /// The server refused the request as too large.
    too_large() Words Agent
    "The server of the store refused the request as too large (HTTP 413)" ".";
    "Split a list of files into several calls; for one big file the server's owner raises the limit. Nothing was done."

    /// Neither an engine's answer nor a web page.
    unexpected_answer(what: &str) Words ServerAdmin
    "Unexpected answer:" " {what}";
    "The server's owner looks at what stands in front of the engine."

    /// An envelope arrived but its inside is not JSON.
    not_json(fate: &str) Words ServerAdmin
    "The store answered with something that is not json" ".{fate}";
    "The server's owner looks into the engine's log."

    /// The store's server cannot be reached, or the line broke.
    no_connection(url: &str, what: &str, fate: &str) Words ServerAdmin
    "No connection to the store" " at {url}: {what}. {fate}";
    "Where the store moved to another address, `session_connect` reads it from `Shop.ini` anew."

    /// What stands in front of the engine is overloaded or the engine behind it is down.
    not_available(status: u16, wait: &str, fate: &str) Words Time
    "The store is not available right now" " (HTTP {status}).{wait} {fate}";
    ""

    // Tools.

    /// Both a value and its source are named.
    not_both(one: &str, other: &str) Tool Agent
    "<a> or <b>, not both" "{one} or {other}, not both.";
    ""

    /// A source on this computer is not there.
    no_such_file(path: &str, why: &str) Tool Agent
    "No such file: " "{path} ({why}).";
    "A path is absolute or from the store folder."

    /// A source is not UTF-8.
    not_utf8(path: &str) Tool Agent
    "<path> is not utf-8 text" "{path} is not utf-8 text.";
    "Save it in utf-8."

    /// A file of the answer cannot be written.
    not_written(path: &str, why: &str) Tool Person
    "Cannot write " "`{path}`: {why}.";
    "The person at this computer can free it, or give another folder."

    /// A folder for files of the answer cannot be made.
    folder_not_made(path: &str, why: &str) Tool Person
    "Cannot create folder " "`{path}`: {why}.";
    "The person at this computer can free it, or give another folder."

    /// A note to change is not there, or not seen by this person.
    no_such_note(id: i64) Tool Agent
    "No such note: " "{id}.";
    "Call `memory_list` for the notes there are."

    /// A note of the store or of a group is the owner's, not the agent's.
    note_not_own(id: i64, level: &str) Tool Owner
    "ACCESS_DENIED: note " "{id} is of level `{level}`; an agent changes only notes of level `own`.";
    "People edit it in the program, under AI components."

    /// A field is longer than it may be.
    too_long(field: &str, most: usize, got: usize) Tool Agent
    "Too long: " "`{field}` takes at most {most} characters, got {got}.";
    ""

    /// The HTML of a field has more tags than its text can need.
    too_many_tags(field: &str, most: usize, got: usize) Tool Agent
    "Too many tags: " "`{field}` takes at most {most}, got {got}.";
    "Write it simpler, or split it."

    /// A new note without a name, or a name that is empty.
    note_needs_name() Tool Agent
    "A note needs a name" ".";
    "Name it in `name`, at most 100 characters."

    /// The registry has no such kind of notes.
    no_such_kind(kind: &str, kinds: &str) Tool Agent
    "No such kind: " "`{kind}`. The store's kinds: {kinds}.";
    ""

    /// Somebody else has the table in work, and the caller is no administrator.
    lease_not_own(table: &str, who: &str) Tool Owner
    "ACCESS_DENIED: table " "`{table}` is not yours to free: {who}.";
    "Ask that person to finish, or an administrator to free it. A lease ends by itself soon after its window is closed."

    // The repository.

    /// An action on a section that does not name one.
    repo_is_a_number() Tool Agent
    "repo is the number of a section" ".";
    "`repo_list` shows the sections and their numbers."

    /// An action on a topic that does not name one.
    topic_is_a_number() Tool Agent
    "topic is the number of a topic" ".";
    "`repo_read` with action `topic_list` shows the topics of a section and their numbers."

    /// A record's number that is none.
    record_is_a_number() Tool Agent
    "record is the number of a record" ".";
    "`repo_read` with action `store_list` shows the records of a topic and their numbers."

    /// Topics to read whose numbers are none.
    topics_are_numbers(most: usize) Tool Agent
    "topics are the numbers of topics" ", from one to {most} of them.";
    "`repo_read` with action `topic_list` shows the topics of a section and their numbers."

    /// Where a list goes on is no number of rows.
    offset_is_a_number() Tool Agent
    "offset is the number of rows to skip" ".";
    "0 begins at the first; an answer tells `total`."

    /// The section is not there, or nothing in it is allowed to this person.
    no_open_section(id: i64) Tool Agent
    "No section " "{id} is open to you.";
    "`repo_list` shows those that are."

    /// The topic is not there, or its section is closed to this person.
    no_such_topic(id: i64) Tool Agent
    "No topic " "{id}.";
    "`repo_read` with action `topic_list` shows the topics of a section."

    /// The record is not there, or its section is closed to this person.
    no_such_record(id: i64) Tool Agent
    "No record " "{id}.";
    "`repo_read` with action `store_list` shows the records of a topic."

    /// The section is open, but not for this action.
    section_flag_missing(path: &str, flag: &str) Tool Owner
    "ACCESS_DENIED: your rights in section [" "{path}] do not hold {flag}.";
    "Who may save AI components gives it there, in the program."

    /// Another topic of the section has the name, capitals aside.
    topic_name_taken(name: &str, id: i64) Tool Agent
    "The section has topic [" "{name}] already, id {id}.";
    "Write to that one, or choose another name."

    /// A change of a topic names no field.
    nothing_to_change() Tool Agent
    "Nothing to change" ".";
    "Name what changes: name, descr or params."

    // Files of the store.

    /// A path leads out of the store's files, or is written so that it might.
    outside_store(name: &str) Tool Agent
    "ACCESS_DENIED: parameter " "{name} points outside the store files.";
    "A path starts at the store's root, like units/home.js; `engine_map_tree` lists them."

    /// A tool for files is pointed at the store's settings.
    config_closed() Tool Agent
    "ACCESS_DENIED: the store config is not a file for the agent" ".";
    "`engine_dev_config` tells its settings; people change them."

    /// A tool for files is pointed at something the server keeps for itself.
    server_marker(path: &str) Tool ServerAdmin
    "ACCESS_DENIED: " "{path} is a marker of the server.";
    "Markers, the database and what else lies in core/ belong to who keeps the server; logs in core/log/ can be read."

    /// Neither the content nor a file with it is named.
    content_missing() Tool Agent
    "Say content, or content_source" ".";
    "A save never empties a file by omission: for an empty one say `content` with an empty text."

    /// A file to be loaded is not there.
    file_not_found(path: &str) Tool Agent
    "File not found: " "{path}.";
    "Check the path against engine_map_tree."

    /// A file to be changed is not there.
    no_such_store_file(path: &str, add: &str) Tool Agent
    "No such file: " "{path} is not in the store; SAVE changes a file, and `{add}` makes a new one.";
    "Check the path against engine_map_tree."

    /// Somebody saved another version since the one that `base` names.
    changed_since(path: &str, what: &str) Tool Agent
    "CHANGED_SINCE: " "{path}: {what}";
    "Nothing was saved. Load it again, put your change into the newest version, and save with that `base`."

    /// Code, a manifest or a template that cannot be read.
    syntax_error(path: &str, line: u32, column: u32, text: &str) Tool Agent
    "Syntax error: " "{path}:{line}:{column}: {text}.";
    "Nothing was saved."

    /// A path that is no unit's.
    not_a_module_path(path: &str) Tool Agent
    "A module path ends with" " units/<name>.js or units/<name>.php, the name in 1 to 64 small Latin letters, digits and `_`, a letter first; got {path}.";
    ""

    /// A unit in a folder below `units/`.
    units_are_flat(path: &str) Tool Agent
    "units/ keeps a flat list of modules" ": {path} lies deeper.";
    "Groups are made by names, like units/catalog_menu.js."

    /// A unit below `templates/`.
    templates_tree(path: &str) Tool Agent
    "That is the templates tree" ": {path}.";
    "Code lies in units/<name>.js; templates are made by `engine_html_add`."

    /// A unit in a language that this server cannot run.
    no_runtime(path: &str) Tool ServerAdmin
    "NO_RUNTIME:" " the store's server cannot run {path}: it has no command `php` for units.";
    "Write the unit in JavaScript, or ask who keeps the server."

    /// A new name that a unit has already.
    unit_exists(name: &str) Tool Agent
    "Unit already exists: " "{name}.";
    ""

    /// A unit that is not there.
    unit_not_found(name: &str) Tool Agent
    "Unit not found: " "{name}.";
    "`engine_map_tree` lists the units."

    /// A file that is loaded or saved as a unit's code and is none.
    not_a_unit_file(path: &str) Tool Agent
    "Not a unit's code: " "{path} is not a unit file of the project.";
    "Code lies in units/<name>.js; templates are for `engine_html_load` and `engine_html_save`."

    /// A rename that would change a unit's language, or make a library of an ordinary unit or the other way round.
    other_kind(path: &str, new_path: &str) Tool Agent
    "Both paths must be of one kind" ": {path} and {new_path} differ in language, or one is a library and the other is not.";
    "A library's first or second word is `inc` or `include`, or its name is a single word."

    /// A path that is no template's.
    template_path(path: &str) Tool Agent
    "path goes as templates/<group>/units/<module>/<template>.htm" "; got {path}.";
    ""

    /// A new path that is no template's.
    template_new_path(path: &str) Tool Agent
    "new_path goes as templates/<group>/units/<module>/<template>.htm" "; got {path}.";
    ""

    /// A new path that a template has already.
    template_exists(name: &str) Tool Agent
    "Template already exists: " "{name}.";
    ""

    /// A template that is not there.
    template_not_found(name: &str) Tool Agent
    "Template not found: " "{name}.";
    "`engine_map_tree` lists the files."

    /// A template that would leave the folder of its unit.
    template_moves() Tool Agent
    "A template is renamed inside its module folder" ".";
    "For another unit or group load it, add it there and save it."

    /// A file that is loaded or saved as a template and is none.
    not_a_template(path: &str) Tool Agent
    "Not a template: " "{path} is not a template.";
    "Templates lie in templates/<group>/units/<unit>/<name>.htm."

    /// A group of templates that is not there.
    group_not_found(group: &str) Tool Agent
    "Template group not found: " "{group}.";
    ""

    /// A path that neither is in the store nor ever was.
    no_project_file(path: &str) Tool Agent
    "No such file in the project: " "{path}.";
    "Check the path against engine_map_tree."

    /// A version that is not there.
    version_not_found(id: i64) Tool Agent
    "Version not found: " "{id}.";
    "`engine_history_list` tells the versions of a file."

    /// A word of search that is no regular expression.
    bad_regex(why: &str) Tool Agent
    "Bad regular expression: " "{why}.";
    "Leave `regex` out to find the word as it is."

    /// A table that the store does not have.
    unknown_table(name: &str) Tool Agent
    "Unknown table: " "{name}.";
    "Tables in work are listed by `engine_db_locks`; docs/database.md names all there are."

    // The store from outside, and files whole.

    /// `shop_page` or `shop_module` names an address outside the store, or one of the engine's own.
    not_of_store(url: &str, store: &str) Tool Agent
    "Only pages of this store can be fetched:" " `{url}` is none of {store}.";
    "Name an address from the store's root, like /catalog/?page=2."

    /// A field of a form holds more than values.
    field_not_flat(name: &str, parameter: &str, takes: &str) Tool Agent
    "The field [" "{name}] of {parameter} takes {takes}.";
    "A value is a text, a number, true, false or null; a list holds values only."

    /// `debug` without the right to the store's configuration.
    debug_denied(path: &str) Tool Owner
    "ACCESS_DENIED: " "this user may not run AGENT_ENGINE_DEV_CONFIG. The right is at: {path}.";
    "The code of the debugger is read through engine_dev_config: the store's owner grants it there; or repeat the call without `debug`."

    /// `debug` where the store's `debug_code` is empty.
    debugger_without_code() Tool Owner
    "The debugger has no code in this store" ".";
    "The store's owner sets `debug_code` in the configuration; or repeat the call without `debug`."

    /// `shop_agent` names what can be no unit of the agent.
    agent_units_only(unit: &str) Tool Agent
    "The entry point runs the modules of the agent only" ": `{unit}` is none.";
    "Their names begin with `agent_` and go on with small Latin letters, digits and `_`."

    /// The agent's unit is not there.
    no_module(unit: &str) Tool Agent
    "NO_MODULE:" " there is no units/{unit}.";
    "`engine_unit_add` makes it."

    /// The agent's unit may not be called from outside.
    no_entry_point(unit: &str) Tool Agent
    "NO_ENTRY_POINT:" " set entry_point = 1 for unit {unit}.";
    "It stands in the unit's manifest: `engine_unit_save` takes it."

    /// The storefront does not take the session's ticket.
    ticket_unfit() Tool Agent
    "ACCESS_DENIED: " "the storefront does not take the key of this session.";
    "Call `session_connect` with the same topic, then repeat the call."

    /// The storefront knows no entry point for units.
    no_unit_endpoint(url: &str) Tool ServerAdmin
    "This store has no entry point for units" ": nothing is at {url}.";
    "The store's engine is too old: whoever keeps the server updates it in place."

    /// A file that a unit imports is not there, or does not lie in units/.
    module_not_found(file: &str) Tool Agent
    "Module not found! [" "{file}]";
    "Load the unit and mend its `import`, or make the library."

    /// A unit has no function of this name.
    function_not_found(unit: &str, function: &str) Tool Agent
    "Function not found! [" "{unit}\\{function}]";
    "A unit exports the functions that can be called; `engine_map_units` lists them."

    /// A unit ran into an error or over a limit.
    module_exception(what: &str) Tool Agent
    "Module Runtime Exception: " "{what}";
    "The place is unit, line and column: load the unit and mend it."

    /// The agent's unit answered with another status than 200.
    agent_unit_failed(unit: &str, status: u16, words: &str, file: &str, log: &str) Tool Agent
    "The unit did not end well: " "`{unit}` answered with status {status}: {words}\nIts log: {log}\nThe whole answer is in `{file}`.";
    "Its code sets the status: load the unit and look."

    /// The store has no tool of this address.
    no_such_tool(unit: &str) Tool Agent
    "ACCESS_DENIED: no such tool: " "{unit}.";
    "`tool_list` shows the store's own tools."

    /// A unit of the store's own tools ran into an error, over a limit, or answered in another form.
    command_failed(unit: &str, command: &str, text: &str) Tool Agent
    "<UNIT>\\<command> failed: " "{unit}\\{command} failed: {text}";
    "Nothing of it was kept. The place is unit, line and column: who keeps the tool mends it."

    /// A command answered something without `result`, or with one that is neither true nor false.
    command_without_result(unit: &str, command: &str) Tool Agent
    "<UNIT>\\<command> answered without result" "{unit}\\{command} answered without result.";
    "Nothing of it was kept. Its function returns an object whose `result` is true or false: who keeps the tool mends it."

    /// A source is not JSON, or breaks off.
    not_whole_json(path: &str, why: &str) Tool Agent
    "<path> is not whole json" "{path} is not whole json ({why}).";
    ""

    /// A source of fields holds something else.
    no_object_of_fields(path: &str) Tool Agent
    "<path> holds no object of fields" "{path} holds no object of fields.";
    "Like `{\"id\": 5}`; `tool_list` with `unit` shows them."

    /// `params` is something else than an object.
    params_not_fields() Tool Agent
    "params is an object of fields" ", like `{{\"id\": 5}}`.";
    "`tool_list` with `unit` shows them."

    /// A source of a list holds something else.
    no_list_of_entries(path: &str) Tool Agent
    "<path> holds no list of entries" "{path} holds no list of entries.";
    ""

    /// A source of steps for the database holds something else.
    no_list_of_steps(path: &str) Tool Agent
    "<path> holds no list of steps" "{path} holds no list of steps.";
    ""

    /// The database has no table of this name that agents see.
    table_not_found(name: &str, similar: &str) Tool Agent
    "Table \"" "{name}\" not found.{similar}";
    "`engine_db_tables` without a name lists them."

    /// A pool has too many steps.
    too_many_steps(most: usize, got: usize) Tool Agent
    "A pool has at most " "{most} steps, and this one has {got}.";
    "Make several pools of it. Nothing was done."

    /// A step of a pool is a text, a list, a number.
    step_not_object(number: usize) Tool Agent
    "Step " "{number} is not an object.";
    "A step is like `{\"unit\": \"PRODUCTS\", \"command\": \"CmdList\", \"params\": {}}`. Nothing was done."

    /// A step of a pool does not say what to run.
    step_incomplete(number: usize) Tool Agent
    "Step " "{number} needs unit and command.";
    "`tool_list` shows them. Nothing was done."

    /// Files travel with `tool_run` only.
    step_with_files(number: usize) Tool Agent
    "Step " "{number} carries files.";
    "Files are not for pools. Nothing was done."

    /// A step's name could not be told from its fields.
    step_name_with_dot(number: usize) Tool Agent
    "The name of step " "{number} carries a dot.";
    "What follows a dot in `@name.field` is a field. Nothing was done."

    /// Two steps of a pool have one name, capitals aside.
    step_named_twice(name: &str) Tool Agent
    "Two steps are named [" "{name}].";
    "Nothing was done."

    /// A reference to an earlier step says nothing of what is meant of it.
    reference_without_field(reference: &str) Tool Agent
    "@<name>.<field> names a field" " of that step's `detail`, and [{reference}] does not.";
    "Nothing was done."

    /// `into` cannot be part of a file's name.
    into_not_bare(into: &str) Tool Agent
    "into is the bare name of a job" ", of Latin letters, digits, `-` and `_`, up to 64; got [{into}].";
    "Its files lie in `tables/` of the conversation folder."

    /// `engine_whole_load` needs both.
    path_and_output() Tool Agent
    "path and output are both required" ".";
    "`path` is the file in the store, `output` where it goes on this computer."
}
