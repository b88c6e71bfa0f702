-- What files of the store were at each save.

create table file_versions (
  id {id},
  path {text} not null,
  hash {text},
  size {int} not null default 0,
  user_id {int} references users (id),
  time {text} not null,
  application {text} not null default '',
  tool {text} not null default '',
  moved_from {text},
  check (hash is not null or size = 0)
);
create index file_versions_path on file_versions (path, id);
create index file_versions_user on file_versions (user_id);
