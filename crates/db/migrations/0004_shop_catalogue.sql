-- Measures and the tree of categories.

create table measures (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  decimals {int} not null default 0 check (decimals between 0 and 6),
  {edited}
);

create table categories (
  id {id},
  parent_id {int} references categories (id),
  position {int} not null default 0,
  name {text} not null,
  text {text} not null default '',
  state {text} not null default 'kShown' check (state in ('kShown', 'kHidden')),
  sort {text} not null default 'kPopular' check (sort in ('kPopular', 'kNew', 'kPrice', 'kName', 'kRating')),
  {edited},
  deleted {text},
  check (parent_id <> id)
);
create index categories_parent on categories (parent_id, position);

create table category_closure (
  id {id},
  ancestor {int} not null references categories (id),
  descendant {int} not null references categories (id),
  depth {int} not null check (depth >= 0)
);
create unique index category_closure_pair on category_closure (ancestor, descendant);
create index category_closure_descendant on category_closure (descendant, depth);

-- Products and what is sold of them.

create table brands (
  id {id},
  name {text} not null,
  name_folded {text} not null,
  position {int} not null default 0,
  text {text} not null default '',
  site {text} not null default '',
  {edited},
  deleted {text}
);
create unique index brands_name on brands (name_folded) where deleted is null;

create table tax_classes (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  {edited}
);

create table products (
  id {id},
  kind {text} not null default 'kGoods' check (kind in ('kGoods', 'kDigital', 'kService')),
  brand_id {int} references brands (id),
  tax_class_id {int} references tax_classes (id),
  measure_id {int} references measures (id),
  main_category_id {int} references categories (id),
  name {text} not null,
  text {text} not null default '',
  name_folded {text} not null default '',
  name_sort {text} not null default '',
  state {text} not null default 'kDraft' check (state in ('kDraft', 'kShown', 'kUnlisted', 'kArchive')),
  shown_from {text},
  shown_until {text},
  rating_sum {int} not null default 0,
  rating_count {int} not null default 0 check (rating_count >= 0),
  external_id {text},
  {edited},
  deleted {text}
);
create unique index products_external on products (external_id) where external_id is not null and deleted is null;
create index products_brand on products (brand_id);
create index products_main_category on products (main_category_id);
create index products_name_sort on products (name_sort, id);
create index products_changed on products (changed, id);

create table variants (
  id {id},
  product_id {int} not null references products (id),
  sku {text},
  sku_folded {text},
  gtin {text},
  mpn {text},
  position {int} not null default 0,
  option_key {text} not null default '',
  weight {int} check (weight >= 0),
  length {int} check (length >= 0),
  width {int} check (width >= 0),
  height {int} check (height >= 0),
  tracked {bool} not null default true,
  backorder {int} default 0 check (backorder >= 0),
  min_quantity {int} not null default 1 check (min_quantity > 0),
  max_quantity {int} check (max_quantity >= min_quantity),
  step {int} not null default 1 check (step > 0),
  cost {int} check (cost >= 0),
  cost_currency {text},
  hs_code {text},
  origin {text},
  ships {bool} not null default true,
  {edited},
  deleted {text},
  check ((cost is null) = (cost_currency is null)),
  check ((sku is null) = (sku_folded is null))
);
create unique index variants_sku on variants (sku_folded) where sku_folded is not null and deleted is null;
create unique index variants_options on variants (product_id, option_key) where deleted is null;
create index variants_product on variants (product_id, position);
create index variants_gtin on variants (gtin) where gtin is not null;

create table product_options (
  id {id},
  product_id {int} not null references products (id),
  skey {text},
  name {text} not null,
  position {int} not null default 0,
  {edited}
);
create unique index product_options_name on product_options (product_id, name);
create unique index product_options_skey on product_options (product_id, skey);

create table product_option_values (
  id {id},
  option_id {int} not null references product_options (id),
  skey {text},
  name {text} not null,
  position {int} not null default 0,
  {edited}
);
create unique index product_option_values_name on product_option_values (option_id, name);
create unique index product_option_values_skey on product_option_values (option_id, skey);
create unique index product_option_values_pair on product_option_values (option_id, id);

create table variant_values (
  id {id},
  variant_id {int} not null references variants (id),
  option_id {int} not null references product_options (id),
  value_id {int} not null,
  foreign key (option_id, value_id) references product_option_values (option_id, id)
);
create unique index variant_values_option on variant_values (variant_id, option_id);
create index variant_values_value on variant_values (option_id, value_id);

-- Attributes.

create table attributes (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  type {text} not null check (type in ('kText', 'kInt', 'kDecimal', 'kBool', 'kDate', 'kChoice', 'kChoices')),
  decimals {int} not null default 0 check (decimals between 0 and 6),
  measure {text} not null default '',
  filter {bool} not null default false,
  search {bool} not null default false,
  compare {bool} not null default false,
  {edited}
);

create table attribute_choices (
  id {id},
  attribute_id {int} not null references attributes (id),
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0,
  {edited}
);
create unique index attribute_choices_skey on attribute_choices (attribute_id, skey);
create unique index attribute_choices_pair on attribute_choices (attribute_id, id);

create table category_attributes (
  id {id},
  category_id {int} not null references categories (id),
  attribute_id {int} not null references attributes (id),
  position {int} not null default 0
);
create unique index category_attributes_pair on category_attributes (category_id, attribute_id);
create index category_attributes_attribute on category_attributes (attribute_id);

create table attribute_values (
  id {id},
  product_id {int} not null references products (id),
  variant_id {int} references variants (id),
  attribute_id {int} not null references attributes (id),
  choice_id {int},
  int_value {int},
  text_value {text},
  date_value {text},
  foreign key (attribute_id, choice_id) references attribute_choices (attribute_id, id),
  check (
    case when choice_id is null then 0 else 1 end + case when int_value is null then 0 else 1 end
    + case when text_value is null then 0 else 1 end + case when date_value is null then 0 else 1 end = 1
  )
);
create unique index attribute_values_one
  on attribute_values (product_id, attribute_id, coalesce(variant_id, 0), coalesce(choice_id, 0));
create index attribute_values_choice on attribute_values (attribute_id, choice_id, product_id);
create index attribute_values_int on attribute_values (attribute_id, int_value, product_id);
create index attribute_values_variant on attribute_values (variant_id);

-- What belongs together.

create table tags (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  {edited}
);

create table product_tags (
  id {id},
  product_id {int} not null references products (id),
  tag_id {int} not null references tags (id)
);
create unique index product_tags_pair on product_tags (product_id, tag_id);
create index product_tags_tag on product_tags (tag_id, product_id);

create table product_categories (
  id {id},
  product_id {int} not null references products (id),
  category_id {int} not null references categories (id),
  position {int} not null default 0
);
create unique index product_categories_pair on product_categories (product_id, category_id);
create index product_categories_category on product_categories (category_id, product_id);

create table product_links (
  id {id},
  product_id {int} not null references products (id),
  linked_id {int} not null references products (id),
  kind {text} not null check (kind in ('kUpsell', 'kCross', 'kAnalog', 'kSpare', 'kReplacedBy')),
  position {int} not null default 0,
  check (product_id <> linked_id)
);
create unique index product_links_pair on product_links (product_id, kind, linked_id);
create unique index product_links_replaced on product_links (product_id) where kind = 'kReplacedBy';
create index product_links_linked on product_links (linked_id);

-- Files, texts and addresses of whatever there is.

create table files (
  id {id},
  entity {text} not null,
  elem_id {int} not null,
  kind_key {text} not null default 'kImage',
  position {int} not null default 0,
  real_name {text} not null,
  stored_name {text} not null unique,
  mime {text} not null,
  bytes {int} not null check (bytes >= 0),
  sha256 {text} not null,
  width {int},
  height {int},
  alt {text} not null default '',
  {edited}
);
create index files_element on files (entity, elem_id, position);
create index files_sha256 on files (sha256);

create table texts (
  id {id},
  entity {text} not null,
  elem_id {int} not null,
  language {text} not null,
  field {text} not null,
  value {text} not null,
  {edited}
);
create unique index texts_field on texts (entity, elem_id, language, field);

create table slugs (
  id {id},
  language {text} not null,
  path {text} not null,
  path_folded {text} not null,
  entity {text} not null,
  elem_id {int} not null,
  state {text} not null default 'kCurrent' check (state in ('kCurrent', 'kMoved', 'kGone')),
  created {text} not null default {now}
);
create unique index slugs_path on slugs (language, path_folded);
create unique index slugs_current on slugs (entity, elem_id, language) where state = 'kCurrent';
create index slugs_element on slugs (entity, elem_id);

-- Currencies and prices.

create table currencies (
  id {id},
  code {text} not null unique check (length(code) = 3),
  name {text} not null,
  decimals {int} not null check (decimals between 0 and 4),
  cash_step {int} not null default 1 check (cash_step > 0),
  used {bool} not null default false,
  position {int} not null default 0
);

create table exchange_rates (
  id {id},
  base {text} not null references currencies (code),
  quote {text} not null references currencies (code),
  rate_e9 {int} not null check (rate_e9 > 0),
  since {text} not null,
  check (base <> quote)
);
create unique index exchange_rates_since on exchange_rates (base, quote, since);

create table customer_groups (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  tax_exempt {bool} not null default false,
  {edited}
);

create table price_lists (
  id {id},
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0,
  currency {text} not null references currencies (code),
  tax_included {bool} not null default true,
  customer_group_id {int} references customer_groups (id),
  priority {int} not null default 0,
  valid_from {text},
  valid_until {text},
  base_list_id {int} references price_lists (id),
  change_ppm {int} not null default 0 check (change_ppm >= -1000000),
  round_to {int} not null default 1 check (round_to > 0),
  {edited},
  deleted {text},
  check (base_list_id <> id)
);
create unique index price_lists_skey on price_lists (skey) where deleted is null;

create table prices (
  id {id},
  list_id {int} not null references price_lists (id),
  variant_id {int} not null references variants (id),
  min_quantity {int} not null default 1 check (min_quantity > 0),
  valid_from {text},
  valid_until {text},
  amount {int} not null check (amount >= 0),
  compare_at {int} check (compare_at > amount),
  {edited},
  check (valid_from < valid_until)
);
create unique index prices_one on prices (list_id, variant_id, min_quantity, coalesce(valid_from, ''));
create index prices_variant on prices (variant_id, list_id);
create index prices_from on prices (valid_from) where valid_from is not null;
create index prices_until on prices (valid_until) where valid_until is not null;

create table price_history (
  id {id},
  list_id {int} not null references price_lists (id),
  variant_id {int} not null references variants (id),
  amount {int} not null,
  since {text} not null,
  until {text}
);
create index price_history_variant on price_history (variant_id, list_id, since);

-- Taxes.

create table countries (
  id {id},
  code {text} not null unique check (length(code) = 2),
  name {text} not null,
  position {int} not null default 0,
  address_format {text} not null,
  required {text} not null,
  ships {bool} not null default false
);

create table zones (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  {edited}
);

create table zone_places (
  id {id},
  zone_id {int} not null references zones (id),
  country {text} not null references countries (code),
  region {text},
  postcode_from {text},
  postcode_to {text},
  check ((postcode_from is null) = (postcode_to is null)),
  check (postcode_from <= postcode_to)
);
create index zone_places_zone on zone_places (zone_id);
create unique index zone_places_one
  on zone_places (zone_id, country, coalesce(region, ''), coalesce(postcode_from, ''));

create table tax_rates (
  id {id},
  zone_id {int} not null references zones (id),
  tax_class_id {int} not null references tax_classes (id),
  name {text} not null,
  rate_ppm {int} not null check (rate_ppm between 0 and 10000000),
  compound {bool} not null default false,
  business {bool},
  valid_from {text},
  valid_until {text},
  position {int} not null default 0,
  {edited},
  check (valid_from < valid_until)
);
create index tax_rates_zone on tax_rates (zone_id, tax_class_id);

-- Stock.

create table locations (
  id {id},
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0,
  country {text},
  address {text} not null default '',
  priority {int} not null default 0,
  sells {bool} not null default true,
  pickup {bool} not null default false,
  {edited},
  deleted {text}
);
create unique index locations_skey on locations (skey) where deleted is null;

create table stock (
  id {id},
  variant_id {int} not null references variants (id),
  location_id {int} not null references locations (id),
  on_hand {int} not null default 0,
  reserved {int} not null default 0 check (reserved >= 0),
  incoming {int} not null default 0 check (incoming >= 0),
  low {int} check (low >= 0)
);
create unique index stock_one on stock (variant_id, location_id);
create index stock_location on stock (location_id);
