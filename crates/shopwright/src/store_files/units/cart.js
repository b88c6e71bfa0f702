// The cart. Forms of product pages are sent here: `do=add` with `variant` and `quantity`.
import { go, own, sent, showOwn, withThumbs } from "units/inc_shop.js";

export function main() {
  const form = sent();
  const problem = form ? change(form) : null;
  if (form && !problem) {
    return go(own("/cart"));
  }
  const held = shop.cart.get();
  return showOwn("main.htm", { held: { ...held, lines: withThumbs(held.lines) }, code: form?.code ?? "" }, problem ? [problem] : []);
}

/** Does what the form asks for; what is wrong with it, if anything. */
function change(form) {
  if (form.remove) {
    return shop.cart.set(form.remove, 0).problem;
  }
  switch (form.do) {
    case "add":
      return shop.cart.add(form.variant, form.quantity || 1).problem;
    case "set":
      return setAll(form);
    case "coupon":
      return shop.cart.coupon(form.code).problem;
    case "remove_coupon":
      return shop.cart.remove_coupon(form.code).problem;
    default:
      return { code: "unknown", field: null, value: null };
  }
}

/** Sets the quantities of all lines, named `quantity_<line>`. */
function setAll(form) {
  for (const [name, quantity] of Object.entries(form)) {
    const line = /^quantity_(\d+)$/.exec(name)?.[1];
    const problem = line ? shop.cart.set(line, quantity).problem : null;
    if (problem) {
      return problem;
    }
  }
  return null;
}
