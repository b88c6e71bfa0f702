-- What visitors read and write.

create table reviews (
  id {id},
  product_id {int} not null references products (id),
  order_line_id {int} unique references order_lines (id),
  customer_id {int} references customers (id),
  name {text} not null,
  language {text} not null default '',
  rating {int} not null check (rating between 1 and 5),
  text {text} not null default '',
  answer {text} not null default '',
  state {text} not null default 'kNew' check (state in ('kNew', 'kShown', 'kHidden')),
  {edited},
  deleted {text}
);
create index reviews_product on reviews (product_id, state, created, id);
create index reviews_state on reviews (state, id);
create index reviews_customer on reviews (customer_id);

create table pages (
  id {id},
  skey {text},
  name {text} not null,
  text {text} not null default '',
  state {text} not null default 'kShown' check (state in ('kDraft', 'kShown')),
  {edited},
  deleted {text}
);
create unique index pages_skey on pages (skey) where skey is not null and deleted is null;

create table menus (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  {edited}
);

create table menu_items (
  id {id},
  menu_id {int} not null references menus (id),
  parent_id {int} references menu_items (id),
  position {int} not null default 0,
  name {text} not null,
  entity {text},
  elem_id {int},
  url {text},
  {edited},
  check ((entity is null) = (elem_id is null)),
  check (entity is null or url is null)
);
create index menu_items_menu on menu_items (menu_id, position);
create index menu_items_parent on menu_items (parent_id);

create table mail_templates (
  id {id},
  skey {text} not null,
  language {text} not null,
  subject {text} not null,
  body {text} not null,
  {edited}
);
create unique index mail_templates_one on mail_templates (skey, language);

create table outbox (
  id {id},
  key {text} not null unique,
  template {text} not null,
  address {text} not null,
  language {text} not null default '',
  data {text} not null default '{}',
  state {text} not null default 'kNew' check (state in ('kNew', 'kSent', 'kFailed')),
  attempts {int} not null default 0,
  next_try {text} not null,
  error {text} not null default '',
  created {text} not null default {now},
  sent {text}
);
create index outbox_next on outbox (state, next_try);

-- Suppliers and imports.

create table suppliers (
  id {id},
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0,
  currency {text} references currencies (code),
  text {text} not null default '',
  {edited},
  deleted {text}
);
create unique index suppliers_skey on suppliers (skey) where deleted is null;

create table supplier_items (
  id {id},
  supplier_id {int} not null references suppliers (id),
  article {text} not null,
  article_folded {text} not null,
  name {text} not null default '',
  brand {text} not null default '',
  mpn {text} not null default '',
  gtin {text} not null default '',
  variant_id {int} references variants (id),
  cost {int} check (cost >= 0),
  currency {text},
  quantity {int},
  seen {text} not null
);
create unique index supplier_items_article on supplier_items (supplier_id, article_folded);
create index supplier_items_variant on supplier_items (variant_id);
create index supplier_items_gtin on supplier_items (gtin);

create table import_profiles (
  id {id},
  name {text} not null,
  kind {text} not null,
  supplier_id {int} references suppliers (id),
  settings {text} not null default '{}',
  {edited}
);

create table imports (
  id {id},
  profile_id {int} references import_profiles (id),
  kind {text} not null,
  state {text} not null default 'kPreview'
    check (state in ('kPreview', 'kRunning', 'kDone', 'kFailed', 'kUndone')),
  file_name {text} not null,
  sha256 {text} not null default '',
  token {text},
  counts {text} not null default '{}',
  error {text} not null default '',
  author_id {int} references users (id),
  created {text} not null default {now},
  changed {text} not null default {now}
);
create index imports_profile on imports (profile_id);

create table import_rows (
  id {id},
  import_id {int} not null references imports (id) on delete cascade,
  line {int} not null,
  column_name {text} not null default '',
  code {text} not null,
  value {text} not null default '',
  entity {text},
  elem_id {int}
);
create index import_rows_import on import_rows (import_id, line);

-- What follows from the rest, and can be made anew at any time.

create table listing (
  id {id},
  list_id {int} not null,
  category_id {int} not null,
  product_id {int} not null,
  price {int} not null,
  price_max {int} not null,
  popular {int} not null default 0,
  created {text} not null,
  name_sort {text} not null,
  rating {int} not null default 0,
  available {bool} not null
);
create unique index listing_one on listing (product_id, list_id, category_id);
create index listing_popular on listing (list_id, category_id, popular desc, product_id, price, available);
create index listing_created on listing (list_id, category_id, created desc, product_id, price, available);
create index listing_price on listing (list_id, category_id, price, product_id, available);
create index listing_name on listing (list_id, category_id, name_sort, product_id, price, available);
create index listing_rating on listing (list_id, category_id, rating desc, product_id, price, available);

create table facet_counts (
  id {id},
  category_id {int} not null,
  attribute_id {int} not null,
  choice_id {int},
  int_value {int},
  products {int} not null
);
create unique index facet_counts_one
  on facet_counts (category_id, attribute_id, coalesce(choice_id, 0), coalesce(int_value, 0));

create table search_terms (
  id {id},
  term {text} not null unique
);

create table search_postings (
  id {id},
  term_id {int} not null,
  entity {text} not null,
  elem_id {int} not null,
  weight {int} not null
);
create unique index search_postings_one on search_postings (term_id, entity, elem_id);
create index search_postings_element on search_postings (entity, elem_id);

create table search_grams (
  id {id},
  gram {text} not null,
  term_id {int} not null
);
create unique index search_grams_one on search_grams (gram, term_id);
create index search_grams_term on search_grams (term_id);

create table dirty (
  id {id},
  entity {text} not null,
  elem_id {int} not null,
  since {text} not null default {now}
);
create unique index dirty_one on dirty (entity, elem_id);
