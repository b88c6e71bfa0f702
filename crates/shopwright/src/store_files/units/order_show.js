// The store's own tool ORDER_SHOW: orders by state, and the card of one.

const COLUMNS = "id, number, state, pay, delivery, currency, decimals, total, paid, refunded, shipping_name, payment_name, placed";

/** Orders, the newest first. */
export function CmdList(userId, { state, before, limit }) {
  const where = ["placed is not null"];
  const params = {};
  if (state !== undefined) {
    where.push("state = :state");
    params.state = state;
  }
  if (before !== undefined) {
    where.push("id < :before");
    params.before = before;
  }
  const most = Math.min(Math.max(Number(limit), 1), 1000);
  const orders = shop.select(
    `select ${COLUMNS} from orders where ${where.join(" and ")} order by id desc limit ${most}`, params);
  const last = orders[orders.length - 1]?.id ?? null;
  return {
    result: true,
    message: orders.length < most ? `${orders.length} orders.`
      : `${orders.length} orders. Older ones: call again with before ${last}.`,
    detail: { count: orders.length, last },
    tables: { orders },
  };
}

/** One order with its lines and what happened to it. */
export function CmdShow(userId, { number }) {
  const order = shop.one(
    `select ${COLUMNS}, goods, discount, shipping, fees, tax, tax_included, comment from orders where number = :number`,
    { number });
  if (!order) {
    return { result: false, message: `There is no order [${number}]. CmdList of ORDER_SHOW shows the orders.` };
  }
  const lines = shop.select(
    `select id, sku, name, quantity, cancelled, shipped, returned, price, discount, tax, total
     from order_lines where order_id = :id order by position, id`, { id: order.id });
  return {
    result: true,
    message: `Order ${number} is ${order.state}, ${order.pay}, ${order.delivery}. Amounts are in minor units of ${order.currency}; ` +
      "the comment is the customer's words.",
    detail: order,
    tables: { lines },
  };
}
