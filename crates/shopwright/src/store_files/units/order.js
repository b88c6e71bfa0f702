// An order, for whoever has its address: what it holds, where it stands, paying, cancelling, ordering again.
import { go, own, sent, showOwn } from "units/inc_shop.js";

export function main({ token }) {
  const order = shop.orders.get(token);
  if (!order) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const form = sent();
  const problem = form ? change(form.do, token) : null;
  if (form && !problem) {
    return "";
  }
  return showOwn("main.htm", { order: shop.orders.get(token) }, problem ? [problem] : []);
}

function change(what, token) {
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
  return { code: "unknown", field: null, value: null };
}
