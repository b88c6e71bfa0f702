-- Words that customers hold: sessions, and links of mails.

create table customer_tokens (
  id {id},
  customer_id {int} not null references customers (id),
  kind {text} not null check (kind in ('kSession', 'kPassword', 'kConfirm')),
  hash {bytes} not null unique,
  password_version {int} not null,
  created {text} not null,
  expires {text} not null
);
create index customer_tokens_customer on customer_tokens (customer_id);
create index customer_tokens_expires on customer_tokens (expires);
