-- People.

create table groups (
  id {id},
  skey {text} unique,
  name {text} not null,
  position {int} not null default 0
);

create table users (
  id {id},
  login {text} not null unique,
  name {text} not null,
  password_hash {text} not null,
  password_version {int} not null default 1,
  blocked {bool} not null default false,
  main_group {int} references groups (id),
  created {text} not null
);
create index users_main_group on users (main_group);

create table user_groups (
  user_id {int} not null references users (id) on delete cascade,
  group_id {int} not null references groups (id) on delete cascade,
  primary key (user_id, group_id)
);
create index user_groups_group on user_groups (group_id);

create table options (
  id {id},
  target {text} not null check (target in ('user', 'group')),
  skey {text},
  name {text} not null,
  position {int} not null default 0
);
create unique index options_skey on options (target, skey);

create table option_values (
  id {id},
  option_id {int} not null references options (id) on delete cascade,
  skey {text},
  name {text} not null,
  position {int} not null default 0
);
create index option_values_option on option_values (option_id);

create table user_options (
  user_id {int} not null references users (id) on delete cascade,
  option_id {int} not null references options (id) on delete cascade,
  value_id {int} references option_values (id) on delete cascade,
  value {text},
  primary key (user_id, option_id)
);

create table group_options (
  group_id {int} not null references groups (id) on delete cascade,
  option_id {int} not null references options (id) on delete cascade,
  value_id {int} references option_values (id) on delete cascade,
  value {text},
  primary key (group_id, option_id)
);

-- Rights.

create table operations (
  id {id},
  parent_id {int} references operations (id),
  position {int} not null default 0,
  skey {text} not null unique,
  command {text} unique,
  hours_begin {text},
  hours_end {text},
  load_1 {real} not null default 0,
  load_5 {real} not null default 0,
  load_15 {real} not null default 0,
  name {text} not null
);

create table grants (
  id {id},
  operation_id {int} not null references operations (id) on delete cascade,
  user_id {int} references users (id) on delete cascade,
  group_id {int} references groups (id) on delete cascade,
  check ((user_id is null) <> (group_id is null))
);
create unique index grants_user on grants (operation_id, user_id);
create unique index grants_group on grants (operation_id, group_id);

-- Names and lists.

create table names (
  entity {text} not null,
  elem_id {int} not null,
  language {text} not null,
  name {text} not null,
  primary key (entity, elem_id, language)
);

create table registry (
  id {id},
  branch {text} not null,
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0
);
create unique index registry_skey on registry (branch, skey);

-- The store's memory.

create table notes (
  id {id},
  level {text} not null check (level in ('all', 'group', 'own')),
  user_id {int} references users (id) on delete cascade,
  group_id {int} references groups (id) on delete cascade,
  kind_key {text} not null,
  name {text} not null,
  category {text} not null default '',
  info {text} not null default '',
  body {text} not null default '',
  edit_time {text} not null,
  check ((level = 'own') = (user_id is not null)),
  check ((level = 'group') = (group_id is not null))
);
create index notes_user on notes (user_id);
create index notes_group on notes (group_id);

-- The scheduler.

create table tasks (
  id {id},
  creator_id {int} not null references users (id),
  executor_id {int} not null references users (id),
  state {text} not null,
  name {text} not null,
  body {text} not null default '',
  created {text} not null,
  changed {text} not null,
  due {text}
);
create index tasks_executor on tasks (executor_id, state);
create index tasks_creator on tasks (creator_id, state);

create table task_notes (
  id {id},
  task_id {int} not null references tasks (id) on delete cascade,
  user_id {int} not null references users (id),
  time {text} not null,
  body {text} not null
);
create index task_notes_task on task_notes (task_id);

-- Events.

create table events (
  id {id},
  user_id {int} references users (id),
  to_user {int} references users (id),
  to_group {int} references groups (id),
  princ_id {int} references users (id),
  key {text} not null,
  state {text} not null,
  time {text} not null,
  data {text} not null,
  attempts {int} not null default 0,
  outcome {text} not null default ''
);
create index events_state on events (state);

-- AI tools.

create table ai_tools (
  id {id},
  parent_id {int} references ai_tools (id),
  position {int} not null default 0,
  unit {text} unique,
  name {text} not null,
  descr {text} not null default ''
);

create table ai_commands (
  id {id},
  tool_id {int} not null references ai_tools (id) on delete cascade,
  position {int} not null default 0,
  name {text} not null,
  descr {text} not null default ''
);
create unique index ai_commands_name on ai_commands (tool_id, name);

create table ai_fields (
  id {id},
  command_id {int} not null references ai_commands (id) on delete cascade,
  position {int} not null default 0,
  name {text} not null,
  type {text} not null,
  required {bool} not null default false,
  default_value {text},
  descr {text} not null default ''
);
create unique index ai_fields_name on ai_fields (command_id, name);

create table ai_grants (
  id {id},
  command_id {int} not null references ai_commands (id) on delete cascade,
  user_id {int} references users (id) on delete cascade,
  group_id {int} references groups (id) on delete cascade,
  check ((user_id is null) <> (group_id is null))
);
create unique index ai_grants_user on ai_grants (command_id, user_id);
create unique index ai_grants_group on ai_grants (command_id, group_id);

-- The repository.

create table repo_sections (
  id {id},
  parent_id {int} references repo_sections (id),
  position {int} not null default 0,
  skey {text} unique,
  name {text} not null,
  descr {text} not null default '',
  kind_key {text} not null
);

create table repo_flags (
  id {id},
  section_id {int} not null references repo_sections (id) on delete cascade,
  user_id {int} references users (id) on delete cascade,
  group_id {int} references groups (id) on delete cascade,
  topic_list {bool} not null default false,
  topic_create {bool} not null default false,
  topic_update {bool} not null default false,
  topic_remove {bool} not null default false,
  store_read {bool} not null default false,
  store_write {bool} not null default false,
  check ((user_id is null) <> (group_id is null))
);
create unique index repo_flags_user on repo_flags (section_id, user_id);
create unique index repo_flags_group on repo_flags (section_id, group_id);

create table repo_topics (
  id {id},
  section_id {int} not null references repo_sections (id),
  user_id {int} not null references users (id),
  name {text} not null,
  name_folded {text} not null,
  descr {text} not null default '',
  params {text} not null default '{}',
  created {text} not null,
  changed {text} not null
);
create unique index repo_topics_name on repo_topics (section_id, name_folded);

create table repo_records (
  id {id},
  topic_id {int} not null references repo_topics (id) on delete cascade,
  user_id {int} not null references users (id),
  time {text} not null,
  author {text} not null,
  comment {text} not null default '',
  body {text} not null,
  appendix {text}
);
create index repo_records_topic on repo_records (topic_id);

-- What the engine's nodes share.

create table tickets (
  hash {bytes} not null primary key,
  user_id {int} not null references users (id) on delete cascade,
  password_version {int} not null,
  address {text} not null,
  kind {text} not null,
  created {text} not null,
  used {text} not null
);
create index tickets_user on tickets (user_id);
create index tickets_used on tickets (used);

create table calls (
  key {text} not null,
  user_id {int} not null references users (id) on delete cascade,
  command {text} not null,
  params_hash {bytes} not null,
  answer {text} not null,
  time {text} not null,
  primary key (key, user_id)
);
create index calls_time on calls (time);

create table attempts (
  kind {text} not null check (kind in ('login', 'address')),
  subject {text} not null,
  count {int} not null,
  last {text} not null,
  primary key (kind, subject)
);
create index attempts_last on attempts (last);

create table leases (
  table_name {text} not null primary key,
  holder {text} not null,
  user_id {int} not null references users (id) on delete cascade,
  what {text} not null,
  since {text} not null,
  until {text} not null
);

-- The journal.

create table journal (
  id {id},
  time {text} not null,
  user_id {int} references users (id),
  princ_id {int} references users (id),
  command {text} not null,
  tool {text} not null default '',
  application {text} not null default '',
  topic {text} not null default '',
  event {int},
  key {text},
  refusal {text}
);
create index journal_time on journal (time);
create index journal_user on journal (user_id);
create index journal_key on journal (key);

create table journal_changes (
  id {id},
  journal_id {int} not null references journal (id) on delete cascade,
  table_name {text} not null,
  row_id {int} not null,
  before {text},
  after {text}
);
create index journal_changes_journal on journal_changes (journal_id);
create index journal_changes_row on journal_changes (table_name, row_id);
