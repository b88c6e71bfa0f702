// An order, for whoever has its address: what it holds, where it stands, paying, cancelling, ordering again.
import { go, own, sent, showOwn, withThumbs } from "units/inc_shop.js";

export function main({ token }) {
  const order = shop.orders.get(token);
  if (!order) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const form = sent();
  const problem = form ? change(form.do, token, form) : null;
  if (form && !problem) {
    return "";
  }
  const now = form ? shop.orders.get(token) : order;
  return showOwn("main.htm", { order: { ...now, lines: withThumbs(now.lines) }, track: track(now), form: problem ? form : {} }, problem ? [problem] : []);
}

/** The way of an order from here to the door, as far as it has come; none of one that was cancelled. */
function track(order) {
  if (order.state === "kCancel" || order.state === "kDraft") {
    return [];
  }
  const paid = ["kPaid", "kOver", "kPartBack", "kBack"].includes(order.pay);
  const sent = ["kSent", "kArrived", "kPartBack", "kBack"].includes(order.delivery);
  const arrived = order.delivery === "kArrived" || order.state === "kDone";
  const all = [{ key: "placed", done: true }, { key: "paid", done: paid }];
  if (order.address_lines.length) {
    all.push({ key: "sent", done: sent }, { key: "arrived", done: arrived });
  }
  const here = all.findLastIndex((one) => one.done);
  return all.map((one, at) => ({ ...one, on: Boolean(all[at + 1]?.done), here: at === here }));
}

function change(what, token, form) {
  if (what === "pay") {
    return shop.orders.pay(token).problem;
  }
  if (what === "cancel") {
    const { problem } = shop.orders.cancel(token);
    problem ?? go(own("/order/" + token));
    return problem;
  }
  if (what === "repeat") {
    const { problem } = shop.orders.repeat(token);
    problem ?? go(own("/cart"));
    return problem;
  }
  if (what === "return") {
    const { problem } = shop.orders.ask_return(token, form);
    problem ?? go(own("/order/" + token));
    return problem;
  }
  return { code: "unknown", field: null, value: null };
}
