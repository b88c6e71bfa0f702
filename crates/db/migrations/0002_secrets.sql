-- What the engine's nodes know and nobody else.

create table secrets (
  skey {text} not null primary key,
  value {text} not null
);
