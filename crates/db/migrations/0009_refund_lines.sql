-- What a refund is for, so that one that fails gives it back; refunds that people send themselves.

create table refund_lines (
  id {id},
  refund_id {int} not null references refunds (id),
  kind {text} not null check (kind in ('kLine', 'kShipping', 'kExtra')),
  order_line_id {int} references order_lines (id),
  quantity {int} not null default 0 check (quantity >= 0),
  amount {int} not null check (amount >= 0),
  tax {int} not null default 0 check (tax >= 0 and tax <= amount),
  check ((kind = 'kLine') = (order_line_id is not null))
);
create index refund_lines_refund on refund_lines (refund_id);
create index refund_lines_line on refund_lines (order_line_id);
alter table refunds add column by_hand {bool} not null default false;
