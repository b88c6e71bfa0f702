// From the cart to an order, in three steps on one address: who and where, how it is sent and paid, the summary.
import { go, own, sent, showOwn, withThumbs } from "units/inc_shop.js";

const STEPS = ["contact", "methods", "summary"];

export function main() {
  const form = sent();
  let problems = [];
  if (form) {
    const done = take(form);
    if (done.sent_on) {
      return "";
    }
    if (done.next) {
      return go(own("/checkout") + "?step=" + done.next);
    }
    problems = done.problems;
  }
  const checkout = shop.checkout.get();
  if (!checkout || checkout.step === "cart") {
    // Something in the cart cannot be bought so: the cart says what.
    return problems.length ? showOwn("changed.htm", {}, problems) : go(own("/cart"));
  }
  const step = chosen(checkout, form);
  const fetched = checkout.shipping_methods.find((way) => way.chosen)?.places.find((place) => place.chosen);
  checkout.cart.lines = withThumbs(checkout.cart.lines);
  // Back to every step that was done; forward to none that still lacks something.
  const reached = STEPS.slice(0, STEPS.indexOf(checkout.step) + 1);
  const past = STEPS.slice(0, STEPS.indexOf(step));
  return showOwn(step + ".htm", { checkout, step, reached, past, fetched, form: values(checkout, form) }, problems);
}

/** Does what a step's form asks for. */
function take(form) {
  switch (form.do) {
    case "contact": {
      const { problems } = shop.checkout.contact({ ...form, invoice: hasInvoice(form) ? "1" : "" });
      return problems.length ? { problems } : { next: "methods" };
    }
    case "methods": {
      const { problems } = shop.checkout.methods(form);
      return problems.length ? { problems } : { next: "summary" };
    }
    case "place": {
      const { problem } = shop.checkout.place(form);
      return problem ? { problems: [problem] } : { sent_on: true };
    }
    default:
      return { problems: [{ code: "unknown", field: null, value: null }] };
  }
}

/** Whether somebody typed another address for the invoice. */
function hasInvoice(form) {
  return Object.entries(form).some(([name, value]) => name.startsWith("invoice_") && name !== "invoice_country" && value.trim());
}

/** The step of the form that was not right, else the one of the address; never past what is still missing. */
function chosen(checkout, form) {
  const asked = form ? (form.do === "place" ? "summary" : form.do) : shop.request.query.step;
  const first = STEPS.indexOf(checkout.step);
  const at = STEPS.indexOf(asked);
  return STEPS[at < 0 ? first : Math.min(at, first)];
}

/** What stands in the fields: what was sent, else what is known. */
function values(checkout, form) {
  if (form) {
    return { ...form, invoice: hasInvoice(form) };
  }
  const known = checkout.address ?? {};
  const chosen = (ways) => String(ways.find((way) => way.chosen)?.id ?? (ways.length === 1 ? ways[0].id : ""));
  return {
    email: checkout.email || checkout.customer?.email || "",
    phone: checkout.phone,
    name: checkout.customer?.name ?? "",
    comment: checkout.comment,
    place: chosen(checkout.shipping_methods.find((way) => way.pickup)?.places ?? []),
    shipping: chosen(checkout.shipping_methods),
    payment: chosen(checkout.payment_methods),
    ...invoice(checkout.invoice_address),
    ...known,
    address_id: checkout.fetches ? "fetch" : "",
    country: known.country ?? (checkout.countries.length === 1 ? checkout.countries[0].code : ""),
  };
}

/** The fields of the address that the invoice goes to, where that is another one. */
function invoice(known) {
  if (!known) {
    return {};
  }
  const named = Object.entries(known).map(([name, value]) => ["invoice_" + name, value]);
  return { invoice: true, ...Object.fromEntries(named) };
}
