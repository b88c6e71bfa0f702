-- What was changed, in the order of the changes, for the nodes' caches. Triggers write it.

create table changes (
  id {id},
  table_name {text} not null,
  row_id {int},
  transaction_id {int} not null default 0
);
