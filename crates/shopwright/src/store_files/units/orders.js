// The store's own tool ORDERS: orders by state, the card of one, and their way: states, parcels, cancelled pieces, money back, notes.

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
    return { result: false, message: `There is no order [${number}]. CmdList of ORDERS shows the orders.` };
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

/** Into another state. */
export function CmdMove(userId, { number, state, reason = "" }) {
  return step(number, (order) => shop.staff.move_order(order.id, state, reason), (order) => `Order ${number} was ${order.state} and is ${state}.`);
}

/** A parcel with some pieces, or with everything that is left. */
export function CmdShip(userId, { number, lines = [], carrier = "", tracking = "" }) {
  return step(number, (order) => shop.staff.ship(order.id, { lines, carrier, tracking }),
    () => `The parcel is written down. ${left(number)} pieces of order ${number} are still to be sent.`);
}

/** Pieces that are not sent any more. */
export function CmdCancelPieces(userId, { number, lines, reason = "" }) {
  return step(number, (order) => shop.staff.cancel_pieces(order.id, { lines, reason }),
    () => `These pieces are for sale again. CmdRefund gives back what was paid for them.`);
}

/** Money for pieces that came back or were cancelled, for shipping, or beside both. Without `apply` it only shows it. */
export function CmdRefund(userId, { number, lines = [], shipping, extra, reason = "", key, apply }) {
  let told;
  try {
    shop.transaction(() => {
      told = step(number, (order) => shop.staff.refund(order.id, { key, lines, shipping, extra, reason }),
        () => "It goes back: providers are asked within minutes, and CmdShow of ORDERS shows it.");
      for (const id of told.detail?.refunds ?? []) {
        told.detail.amount = (told.detail.amount ?? 0) + shop.value("select amount from refunds where id = :id", { id });
      }
      if (told.result && !apply) {
        throw new Error("only shown");
      }
    });
  } catch (error) {
    if (!told?.result || apply) {
      throw error;
    }
    const { amount } = told.detail;
    return { result: true, message: `${amount} minor units would go back, and nothing did. Show it to the person, then call with apply true.`,
      detail: { amount, applied: false } };
  }
  return told;
}

/** A note in the order's history. */
export function CmdNote(userId, { number, text, customer }) {
  return step(number, (order) => shop.staff.note(order.id, text, customer), () => "The note is written.");
}

/** Does something with the order of this number; the rules' no is the command's. */
function step(number, work, said) {
  const order = shop.one("select id, state from orders where number = :number", { number });
  if (!order) {
    return { result: false, message: `There is no order [${number}]. CmdList of ORDERS shows the orders.` };
  }
  const { problem, ...detail } = work(order);
  if (problem) {
    return { result: false, message: `Nothing was done with order ${number}: ${problem}. CmdShow of ORDERS shows how it stands.` };
  }
  return { result: true, message: said(order), detail: { order: order.id, ...detail } };
}

/** Pieces that are neither sent nor cancelled. */
function left(number) {
  return shop.value(
    `select coalesce(sum(l.quantity - l.cancelled - l.shipped), 0) from order_lines l join orders o on o.id = l.order_id
     where o.number = :number`, { number });
}
