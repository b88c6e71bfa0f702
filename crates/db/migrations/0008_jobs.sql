-- What the engine does by itself, and since when; marks that never wait for one another.

create table jobs (
  id {id},
  name {text} not null unique,
  done {text} not null,
  seen {text} not null default ''
);

-- Whoever marks a row waits for nobody: marks are added, and made one when they are taken.
drop index dirty_one;
create index products_shown_from on products (shown_from) where shown_from is not null;
create index products_shown_until on products (shown_until) where shown_until is not null;
create index file_versions_hash on file_versions (hash);
