// The account of a customer: signing in and up, a new password, orders, addresses, the own data.
import { go, own, sent, showOwn, wanted } from "units/inc_shop.js";

const PAGES = ["", "sign-up", "password", "confirm"];

export function main({ page }) {
  if (!PAGES.includes(page)) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const form = sent();
  const done = form ? take(form) : {};
  if (done.data) {
    shop.header("content-disposition", "attachment; filename=\"my-data.json\"");
    return done.data;
  }
  if (done.next) {
    return go(done.next);
  }
  return look(page, form, done);
}

/** Shows what the address stands for. */
function look(page, form, { problems = [], notice = null }) {
  const query = shop.request.query;
  const shared = { notice, form: form ?? {}, next: wanted(form?.next ?? query.next), token: form?.token ?? query.token };
  if (page === "password" || page === "confirm") {
    return showOwn(page + ".htm", shared, problems);
  }
  const customer = shop.customer.get();
  if (!customer) {
    return showOwn(page === "sign-up" ? "sign_up.htm" : "sign_in.htm", shared, problems);
  }
  return showOwn(
    "main.htm",
    {
      ...shared,
      customer,
      orders: shop.orders.list(),
      addresses: shop.customer.addresses(),
      countries: shop.checkout.countries(),
    },
    problems,
  );
}

/** Does what a form asks for: where to go next, what is wrong, or what to say. */
function take(form) {
  const home = own("/account");
  const after = ({ problem, problems }, next) => {
    const wrong = problems ?? (problem ? [problem] : []);
    return wrong.length ? { problems: wrong } : { next };
  };
  switch (form.do) {
    case "sign_in":
      return after(shop.customer.sign_in(form.email, form.password), wanted(form.next) ?? home);
    case "sign_up":
      return after(shop.customer.sign_up(form), wanted(form.next) ?? home);
    case "sign_out":
      return after(shop.customer.sign_out(), home);
    case "ask_password": {
      const { problem } = shop.customer.ask_password(form.email);
      return problem ? { problems: [problem] } : { notice: "mail_sent" };
    }
    case "set_password":
      return after(shop.customer.set_password(form.token, form.password), home);
    case "change_password":
      return after(shop.customer.change_password(form.old_password, form.password), home);
    case "confirm":
      return after(shop.customer.confirm(form.token), home);
    case "save":
      return after(shop.customer.save(form), home);
    case "add_address":
      return after(shop.customer.add_address(form), home);
    case "remove_address":
      return after(shop.customer.remove_address(form.address), home);
    case "export":
      return { data: shop.customer.export() };
    case "erase":
      return after(shop.customer.erase(form.password), own("/account"));
    default:
      return { problems: [{ code: "unknown", field: null, value: null }] };
  }
}
