-- Customers.

create table customers (
  id {id},
  email {text} not null,
  email_folded {text} not null,
  phone {text} not null default '',
  name {text} not null default '',
  password_hash {text},
  password_version {int} not null default 1,
  email_confirmed {text},
  group_id {int} references customer_groups (id),
  language {text} not null default '',
  currency {text} references currencies (code),
  tax_number {text} not null default '',
  tax_checked {text},
  blocked {bool} not null default false,
  external_id {text},
  {edited},
  deleted {text}
);
create unique index customers_email on customers (email_folded) where deleted is null;
create unique index customers_external on customers (external_id) where external_id is not null and deleted is null;
create index customers_group on customers (group_id);

create table addresses (
  id {id},
  customer_id {int} not null references customers (id),
  name {text} not null default '',
  company {text} not null default '',
  country {text} not null,
  region {text} not null default '',
  city {text} not null default '',
  postcode {text} not null default '',
  line1 {text} not null default '',
  line2 {text} not null default '',
  phone {text} not null default '',
  tax_number {text} not null default '',
  position {int} not null default 0,
  {edited},
  deleted {text}
);
create index addresses_customer on addresses (customer_id);

create table consents (
  id {id},
  customer_id {int} references customers (id),
  who {text} not null,
  purpose {text} not null,
  given {bool} not null,
  time {text} not null,
  text_version {text} not null default ''
);
create index consents_who on consents (who, purpose, time);
create index consents_customer on consents (customer_id);

create table personal_requests (
  id {id},
  customer_id {int} references customers (id),
  email {text} not null,
  kind {text} not null check (kind in ('kExport', 'kErase')),
  state {text} not null default 'kNew' check (state in ('kNew', 'kDone', 'kRefused')),
  created {text} not null default {now},
  changed {text} not null default {now},
  outcome {text} not null default ''
);
create index personal_requests_state on personal_requests (state);
create index personal_requests_customer on personal_requests (customer_id);

-- Ways to pay and to send.

create table payment_methods (
  id {id},
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0,
  text {text} not null default '',
  provider {text} not null,
  enabled {bool} not null default true,
  currency {text} references currencies (code),
  min_total {int} check (min_total >= 0),
  max_total {int} check (max_total >= 0),
  fee {int} not null default 0,
  fee_ppm {int} not null default 0,
  settings {text} not null default '{}',
  {edited},
  deleted {text}
);
create unique index payment_methods_skey on payment_methods (skey) where deleted is null;

create table payment_method_zones (
  id {id},
  method_id {int} not null references payment_methods (id),
  zone_id {int} not null references zones (id)
);
create unique index payment_method_zones_pair on payment_method_zones (method_id, zone_id);
create index payment_method_zones_zone on payment_method_zones (zone_id);

create table shipping_methods (
  id {id},
  skey {text} not null,
  name {text} not null,
  position {int} not null default 0,
  text {text} not null default '',
  carrier {text} not null default '',
  enabled {bool} not null default true,
  tax_class_id {int} references tax_classes (id),
  pickup {bool} not null default false,
  days_min {int} check (days_min >= 0),
  days_max {int} check (days_max >= days_min),
  {edited},
  deleted {text}
);
create unique index shipping_methods_skey on shipping_methods (skey) where deleted is null;

create table shipping_rates (
  id {id},
  method_id {int} not null references shipping_methods (id),
  zone_id {int} references zones (id),
  currency {text} not null references currencies (code),
  basis {text} not null check (basis in ('kFlat', 'kWeight', 'kTotal', 'kPieces')),
  least {int} not null default 0,
  most {int},
  amount {int} not null check (amount >= 0),
  step {int} not null default 1 check (step > 0),
  per_step {int} not null default 0,
  free_from {int} check (free_from >= 0),
  position {int} not null default 0,
  {edited},
  check (least <= most)
);
create index shipping_rates_method on shipping_rates (method_id, zone_id);

-- Promotions.

create table promotions (
  id {id},
  name {text} not null,
  text {text} not null default '',
  enabled {bool} not null default true,
  priority {int} not null default 0,
  exclusive {bool} not null default false,
  coupon_only {bool} not null default false,
  valid_from {text},
  valid_until {text},
  usage_limit {int} check (usage_limit >= 0),
  customer_limit {int} check (customer_limit >= 0),
  used {int} not null default 0 check (used >= 0),
  conditions {text} not null default '{}',
  action {text} not null
    check (action in ('kPercent', 'kAmount', 'kPrice', 'kFreeShipping', 'kGift', 'kBuyGet')),
  value {text} not null default '{}',
  {edited},
  deleted {text},
  check (used <= usage_limit)
);
create index promotions_priority on promotions (priority, id);

create table coupons (
  id {id},
  promotion_id {int} not null references promotions (id),
  code {text} not null,
  code_folded {text} not null unique,
  usage_limit {int} check (usage_limit >= 0),
  used {int} not null default 0 check (used >= 0),
  valid_until {text},
  {edited},
  check (used <= usage_limit)
);
create index coupons_promotion on coupons (promotion_id);

-- Carts.

create table carts (
  id {id},
  token_hash {bytes} not null unique,
  customer_id {int} references customers (id),
  currency {text} not null references currencies (code),
  language {text} not null default '',
  email {text} not null default '',
  phone {text} not null default '',
  state {text} not null default 'kOpen' check (state in ('kOpen', 'kOrdered', 'kMerged', 'kLeft')),
  shipping_method_id {int} references shipping_methods (id),
  payment_method_id {int} references payment_methods (id),
  location_id {int} references locations (id),
  address {text},
  billing_address {text},
  comment {text} not null default '',
  created {text} not null default {now},
  changed {text} not null default {now},
  version {int} not null default 1
);
create unique index carts_customer on carts (customer_id) where state = 'kOpen' and customer_id is not null;
create index carts_changed on carts (state, changed);

create table cart_lines (
  id {id},
  cart_id {int} not null references carts (id) on delete cascade,
  variant_id {int} not null references variants (id),
  options_hash {text} not null default '',
  options {text} not null default '',
  quantity {int} not null check (quantity > 0),
  seen_price {int},
  created {text} not null default {now}
);
create unique index cart_lines_one on cart_lines (cart_id, variant_id, options_hash);
create index cart_lines_variant on cart_lines (variant_id);

create table cart_coupons (
  id {id},
  cart_id {int} not null references carts (id) on delete cascade,
  coupon_id {int} not null references coupons (id)
);
create unique index cart_coupons_pair on cart_coupons (cart_id, coupon_id);
create index cart_coupons_coupon on cart_coupons (coupon_id);

-- Orders.

create table order_states (
  id {id},
  skey {text} not null unique,
  name {text} not null,
  position {int} not null default 0,
  base {text} not null check (base in ('kDraft', 'kWait', 'kNew', 'kAccept', 'kDone', 'kCancel'))
);

create table order_transitions (
  id {id},
  from_state {text} not null references order_states (skey),
  to_state {text} not null references order_states (skey),
  condition {text} not null default '',
  check (from_state <> to_state)
);
create unique index order_transitions_pair on order_transitions (from_state, to_state);

create table orders (
  id {id},
  number {text} unique,
  token_hash {bytes} not null unique,
  state {text} not null default 'kDraft' references order_states (skey),
  pay {text} not null default 'kNone'
    check (pay in ('kNone', 'kHeld', 'kPart', 'kPaid', 'kOver', 'kPartBack', 'kBack')),
  delivery {text} not null default 'kNone'
    check (delivery in ('kNone', 'kPart', 'kSent', 'kArrived', 'kPartBack', 'kBack')),
  customer_id {int} references customers (id),
  email {text} not null default '',
  email_folded {text} not null default '',
  phone {text} not null default '',
  language {text} not null default '',
  currency {text} not null references currencies (code),
  decimals {int} not null,
  tax_included {bool} not null,
  rate_e9 {int} not null default 1000000000,
  goods {int} not null default 0,
  discount {int} not null default 0,
  shipping {int} not null default 0,
  fees {int} not null default 0,
  rounding {int} not null default 0,
  tax {int} not null default 0,
  total {int} not null default 0 check (total >= 0),
  paid {int} not null default 0 check (paid >= 0),
  refunded {int} not null default 0 check (refunded >= 0),
  shipping_method_id {int} references shipping_methods (id),
  shipping_name {text} not null default '',
  payment_method_id {int} references payment_methods (id),
  payment_name {text} not null default '',
  location_id {int} references locations (id),
  comment {text} not null default '',
  source {text} not null default 'kStorefront',
  cart_id {int} unique references carts (id),
  key {text} unique,
  placed {text},
  pay_until {text},
  closed {text},
  reason {text} not null default '',
  {edited},
  check (refunded <= paid),
  check (total = goods - discount + shipping + fees + rounding + case when tax_included then 0 else tax end)
);
create index orders_state on orders (state, id);
create index orders_customer on orders (customer_id, id);
create index orders_email on orders (email_folded, id);
create index orders_placed on orders (placed, id);
create index orders_pay_until on orders (pay_until) where pay_until is not null;

create table order_addresses (
  id {id},
  order_id {int} not null references orders (id),
  kind {text} not null check (kind in ('kShipping', 'kBilling')),
  name {text} not null default '',
  company {text} not null default '',
  country {text} not null default '',
  region {text} not null default '',
  city {text} not null default '',
  postcode {text} not null default '',
  line1 {text} not null default '',
  line2 {text} not null default '',
  phone {text} not null default '',
  tax_number {text} not null default ''
);
create unique index order_addresses_kind on order_addresses (order_id, kind);

create table order_lines (
  id {id},
  order_id {int} not null references orders (id),
  position {int} not null default 0,
  variant_id {int} references variants (id),
  product_id {int} references products (id),
  sku {text} not null default '',
  gtin {text} not null default '',
  name {text} not null,
  options {text} not null default '',
  file_id {int},
  measure {text} not null default '',
  measure_decimals {int} not null default 0,
  weight {int},
  cost {int},
  cost_currency {text},
  quantity {int} not null check (quantity > 0),
  cancelled {int} not null default 0 check (cancelled >= 0),
  shipped {int} not null default 0 check (shipped >= 0),
  returned {int} not null default 0 check (returned >= 0),
  refunded {int} not null default 0 check (refunded >= 0),
  refunded_tax {int} not null default 0 check (refunded_tax >= 0),
  refunded_quantity {int} not null default 0 check (refunded_quantity >= 0),
  list_price {int} not null,
  price {int} not null,
  amount {int} not null,
  discount {int} not null default 0,
  tax {int} not null default 0,
  total {int} not null,
  tax_class_id {int} references tax_classes (id),
  check (cancelled + shipped <= quantity),
  check (returned <= shipped),
  check (refunded <= total),
  check (refunded_quantity <= quantity)
);
create index order_lines_order on order_lines (order_id, position);
create index order_lines_variant on order_lines (variant_id);
create index order_lines_product on order_lines (product_id);

create table order_adjustments (
  id {id},
  order_id {int} not null references orders (id),
  order_line_id {int} references order_lines (id),
  kind {text} not null check (kind in ('kPromotion', 'kCoupon', 'kManual', 'kFee', 'kShipping', 'kRounding')),
  source {int},
  code {text} not null default '',
  name {text} not null,
  amount {int} not null
);
create index order_adjustments_order on order_adjustments (order_id);
create index order_adjustments_line on order_adjustments (order_line_id);

create table order_tax_lines (
  id {id},
  order_id {int} not null references orders (id),
  order_line_id {int} references order_lines (id),
  name {text} not null,
  rate_ppm {int} not null,
  base {int} not null,
  tax {int} not null
);
create index order_tax_lines_order on order_tax_lines (order_id);
create index order_tax_lines_line on order_tax_lines (order_line_id);

create table order_history (
  id {id},
  order_id {int} not null references orders (id),
  time {text} not null,
  author_id {int} references users (id),
  axis {text} not null default 'kState' check (axis in ('kState', 'kPay', 'kDelivery', 'kNote')),
  old {text} not null default '',
  new {text} not null default '',
  text {text} not null default '',
  for_customer {bool} not null default false
);
create index order_history_order on order_history (order_id, id);

create table promotion_uses (
  id {id},
  promotion_id {int} not null references promotions (id),
  coupon_id {int} references coupons (id),
  order_id {int} not null references orders (id),
  customer_key {text} not null,
  n {int} not null check (n > 0)
);
create unique index promotion_uses_order on promotion_uses (promotion_id, order_id);
create unique index promotion_uses_customer on promotion_uses (promotion_id, customer_key, n);
create index promotion_uses_of_order on promotion_uses (order_id);
create index promotion_uses_coupon on promotion_uses (coupon_id);

create table counters (
  id {id},
  skey {text} not null unique,
  next {int} not null default 1 check (next > 0)
);

-- Where goods are, and for whom.

create table reservations (
  id {id},
  variant_id {int} not null references variants (id),
  location_id {int} not null references locations (id),
  quantity {int} not null check (quantity > 0),
  cart_id {int} references carts (id),
  order_line_id {int} references order_lines (id),
  until {text},
  check ((cart_id is null) <> (order_line_id is null))
);
create unique index reservations_cart on reservations (cart_id, variant_id, location_id);
create unique index reservations_line on reservations (order_line_id, location_id);
create index reservations_variant on reservations (variant_id, until);
create index reservations_until on reservations (until) where until is not null;

create table stock_moves (
  id {id},
  variant_id {int} not null references variants (id),
  location_id {int} not null references locations (id),
  quantity {int} not null check (quantity <> 0),
  kind {text} not null check (kind in ('kReceipt', 'kSale', 'kReturn', 'kCorrect', 'kTransfer')),
  source {text} unique,
  reason {text} not null default '',
  time {text} not null,
  author_id {int} references users (id)
);
create index stock_moves_variant on stock_moves (variant_id, location_id, id);

-- Parcels out and back.

create table shipments (
  id {id},
  order_id {int} not null references orders (id),
  location_id {int} references locations (id),
  carrier {text} not null default '',
  tracking {text} not null default '',
  state {text} not null default 'kSent' check (state in ('kReady', 'kSent', 'kArrived', 'kLost')),
  sent {text},
  arrived {text},
  {edited}
);
create index shipments_order on shipments (order_id);

create table shipment_lines (
  id {id},
  shipment_id {int} not null references shipments (id),
  order_line_id {int} not null references order_lines (id),
  quantity {int} not null check (quantity > 0)
);
create unique index shipment_lines_pair on shipment_lines (shipment_id, order_line_id);
create index shipment_lines_line on shipment_lines (order_line_id);

create table returns (
  id {id},
  order_id {int} not null references orders (id),
  state {text} not null default 'kAsked' check (state in ('kAsked', 'kAgreed', 'kGot', 'kRefused')),
  text {text} not null default '',
  answer {text} not null default '',
  {edited}
);
create index returns_order on returns (order_id);
create index returns_state on returns (state);

create table return_lines (
  id {id},
  return_id {int} not null references returns (id),
  order_line_id {int} not null references order_lines (id),
  quantity {int} not null check (quantity > 0),
  restock {bool} not null default true,
  location_id {int} references locations (id),
  reason {text} not null default ''
);
create unique index return_lines_pair on return_lines (return_id, order_line_id);
create index return_lines_line on return_lines (order_line_id);

-- Money in and out.

create table payments (
  id {id},
  order_id {int} not null references orders (id),
  method_id {int} references payment_methods (id),
  provider {text} not null,
  amount {int} not null check (amount >= 0),
  currency {text} not null references currencies (code),
  state {text} not null default 'kOpen'
    check (state in ('kOpen', 'kHeld', 'kPaid', 'kFailed', 'kVoid', 'kUnknown')),
  captured {int} not null default 0 check (captured >= 0),
  refunded {int} not null default 0 check (refunded >= 0),
  provider_ref {text},
  key {text} not null unique,
  error {text} not null default '',
  created {text} not null default {now},
  changed {text} not null default {now},
  version {int} not null default 1,
  check (refunded <= captured)
);
create unique index payments_provider_ref on payments (provider, provider_ref);
create index payments_order on payments (order_id);
create index payments_state on payments (state, changed);

create table refunds (
  id {id},
  payment_id {int} not null references payments (id),
  amount {int} not null check (amount > 0),
  state {text} not null default 'kOpen' check (state in ('kOpen', 'kDone', 'kFailed', 'kUnknown')),
  reason {text} not null default '',
  return_id {int} references returns (id),
  provider_ref {text},
  key {text} not null unique,
  error {text} not null default '',
  author_id {int} references users (id),
  created {text} not null default {now},
  changed {text} not null default {now}
);
create index refunds_payment on refunds (payment_id);
create index refunds_return on refunds (return_id);
create index refunds_state on refunds (state, changed);

create table payment_events (
  id {id},
  provider {text} not null,
  event {text} not null,
  payment_id {int} references payments (id),
  kind {text} not null default '',
  data {text} not null default '{}',
  time {text} not null
);
create unique index payment_events_event on payment_events (provider, event);
create index payment_events_payment on payment_events (payment_id);

create table documents (
  id {id},
  kind {text} not null check (kind in ('kInvoice', 'kCredit')),
  number {int} not null check (number > 0),
  order_id {int} not null references orders (id),
  refund_id {int} references refunds (id),
  issued {text} not null,
  language {text} not null,
  currency {text} not null,
  total {int} not null,
  body {text} not null
);
create unique index documents_number on documents (kind, number);
create index documents_order on documents (order_id);
create unique index documents_refund on documents (refund_id);
