-- The journal is written by triggers. An entry may be written after its changes, at the end of its transaction.

alter table journal add column actor {text} not null default 'agent';

alter table journal_changes rename to journal_changes_before;
create table journal_changes (
  id {id},
  journal_id {int} not null references journal (id) on delete cascade deferrable initially deferred,
  table_name {text} not null,
  row_id {int} not null,
  before {text},
  after {text}
);
insert into journal_changes (journal_id, table_name, row_id, before, after)
  select journal_id, table_name, row_id, before, after from journal_changes_before order by id;
drop table journal_changes_before;
create index journal_changes_journal on journal_changes (journal_id);
create index journal_changes_row on journal_changes (table_name, row_id);

create table journal_values (
  hash {text} not null primary key,
  journal_id {int} not null,
  value {text} not null
);
create index journal_values_journal on journal_values (journal_id);

-- One row: the entry of the transaction that writes at the moment; 0: its changes are not journalled.
create table journal_context (
  id {int} not null primary key check (id = 1),
  entry {int}
);
insert into journal_context (id) values (1);
