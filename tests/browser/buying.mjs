// Buying and accounts, as people do them: from a misspelt word to the mail about the order, with and without scripts.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { DESKTOP, PHONE, follow, go, has, look, open, shop, test, text } from "./visitor.mjs";

const MAIL = `${shop.root}/core/mail`;
/** How long a mail may take at most, in milliseconds. */
const LONGEST = 60_000;
const ADDRESS = { name: "Ann Example", line1: "Main street 1", postcode: "LT-01100", city: "Vilnius", country: "LT" };
/** Each width in one colour scheme; the pages themselves are looked at in both. */
const LOOKS = [{ viewport: DESKTOP, scheme: "light" }, { viewport: PHONE, scheme: "dark" }];

const set = (page, selector, value) => page.$eval(selector, (field, value) => { field.value = value; }, value);
const click = (page, selector) => page.$eval(selector, (element) => element.click());
const path = (page) => new URL(page.url()).pathname;

/** Fills fields by the names of their forms' labels, `f-name` and the like. */
async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) {
    await set(page, `#f-${name}`, value);
  }
}

/** The text of a mail as its reader sees it. */
function words(mail) {
  const bytes = mail.replace(/=\r?\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The newest mail of a kind to somebody, once it is there. */
async function mailTo(address, kind) {
  const end = Date.now() + LONGEST;
  while (Date.now() < end) {
    const names = (existsSync(MAIL) ? readdirSync(MAIL) : []).filter((name) => name.endsWith(`-${kind}.eml`)).sort().reverse();
    const found = names.map((name) => words(readFileSync(`${MAIL}/${name}`, "utf8"))).find((mail) => mail.includes(`To: ${address}`));
    if (found) {
      return found;
    }
    await pause(100);
  }
  throw new Error(`no mail ${kind} to ${address}`);
}

/** The first address of the store in a mail that holds these letters. */
function link(mail, part) {
  const found = mail.match(/https?:\/\/[^\s"<>]+/g)?.find((url) => url.includes(part));
  assert.ok(found, `no link with ${part}`);
  assert.ok(found.startsWith(shop.storefront), found);
  return found.slice(shop.storefront.length);
}

/** From a misspelt word to a product in the cart. */
async function choose(page) {
  await go(page, "/");
  await set(page, "#find", "senhca");
  await follow(page, ".find button");
  assert.match(await text(page, ".notice"), /“sencha”/);
  await go(page, "/tea");
  await click(page, "[name='f_origin[]'][value=japan]");
  await follow(page, ".filters .go button");
  assert.match(await text(page, ".chips.chosen"), /Origin: Japan/);
  await go(page, "/sencha-of-the-first-flush");
  await follow(page, ".option a.choice:not(.none)");
  const price = await text(page, ".buy .sum");
  await follow(page, ".add button[name=do]");
  assert.equal(path(page), "/cart");
  assert.equal(await text(page, ".basket .name"), "Sencha of the first flush");
  assert.equal(await text(page, ".basket .sum"), price);
  assert.match(await text(page, ".tools"), /1 thing in it/);
  return price;
}

/** Amounts in the smallest unit. */
const cents = (amount) => Math.round(Number(amount.replace(/[^\d.]/g, "")) * 100);

/** Twice as much of the line, by the buttons beside the number or by the number itself. */
async function double(page, price, scripts) {
  if (scripts) {
    await Promise.all([page.waitForNavigation(), page.click(".amount button:last-of-type")]);
  } else {
    await set(page, ".basket input[type=number]", "2");
    await follow(page, ".under-basket button");
  }
  assert.equal(await page.$eval(".basket input[type=number]", (input) => input.value), "2");
  assert.equal(cents(await text(page, ".basket .sum")), cents(price) * 2);
}

/** A code that nobody knows, and one that works. */
async function coupon(page) {
  await set(page, "#f-coupon", "NO-SUCH-CODE");
  await follow(page, ".coupon form:last-of-type button");
  assert.match(await text(page, ".error-summary"), /no such code/);
  assert.equal(await page.$eval("#f-coupon", (field) => field.value), "NO-SUCH-CODE");
  await set(page, "#f-coupon", "WELCOME10");
  await follow(page, ".coupon form:last-of-type button");
  assert.match(await text(page, ".sums .discount"), /WELCOME10 ?−€/);
}

/** Contact and address, at first with a mistake: nothing that was typed is lost. */
async function contact(page, email, scripts) {
  await follow(page, ".beside a.large");
  await page.$eval("form.checkout", (form) => { form.noValidate = true; });
  await fill(page, { ...ADDRESS, email: "nobody", postcode: "" });
  await follow(page, "form.checkout button");
  assert.match(await text(page, ".error-summary"), /E-mail: .*Postcode: /);
  assert.equal(await page.$eval("#f-email", (field) => field.getAttribute("aria-invalid")), "true");
  for (const [name, value] of [["email", "nobody"], ["name", ADDRESS.name], ["line1", ADDRESS.line1], ["country", "LT"]]) {
    assert.equal(await page.$eval(`#f-${name}`, (field) => field.value), value);
  }
  if (scripts) {
    assert.equal(await page.evaluate(() => document.activeElement.className), "error-summary");
  }
  await fill(page, { email, postcode: ADDRESS.postcode });
  await follow(page, "form.checkout button");
  assert.match(page.url(), /step=methods$/);
}

/** The first way to send, and to pay by the provider for trying. */
async function methods(page) {
  await page.$eval("form.checkout", (form) => { form.noValidate = true; });
  await set(page, "#f-comment", "Please ring twice");
  await follow(page, "form.checkout > button");
  assert.match(await text(page, ".error-summary"), /choose one/);
  assert.equal(await page.$eval("#f-comment", (field) => field.value), "Please ring twice");
  await click(page, "[name=shipping]");
  await page.$$eval(".way", (ways) => ways.find((way) => way.textContent.includes("Test payment")).querySelector("input").click());
  await follow(page, "form.checkout > button");
  assert.match(page.url(), /step=summary$/);
}

/** The way from the bank's page back to the order: refused first, then paid. */
async function pay(page, seen) {
  assert.match(path(page), /^\/core\/pay\/test\/page\//);
  await seen("bank");
  await follow(page, "[value=failed]");
  assert.match(path(page), /^\/order\//);
  assert.match(await text(page, ".notice.warn"), /payment did not work/);
  await seen("unpaid");
  await follow(page, "[value=pay]");
  await follow(page, "[value=paid]");
  assert.match(path(page), /^\/order\//);
  assert.match(await text(page, "main"), /Thank you!/);
  assert.match(await text(page, ".track"), /Paid: done/);
}

/** Buying as a guest. */
export async function buying() {
  for (const { viewport, scheme } of LOOKS) {
    for (const scripts of [true, false]) {
      await test(`${viewport.name}, ${scripts ? "with" : "without"} scripts: from a misspelt word to the mail about a paid order`, async () => {
        const { page, wrong } = await open({ viewport, scheme, scripts, apart: true });
        const email = `guest-${viewport.name}-${scripts}@example.com`;
        // What cannot run in the page without scripts is looked at with them.
        const seen = async (name) => { if (scripts) { await look(page, viewport, `${name}-${viewport.name}-${scheme}`); } };
        const price = await choose(page);
        await double(page, price, scripts);
        await coupon(page);
        await seen("cart");
        await contact(page, email, scripts);
        await go(page, "/checkout?step=contact");
        assert.equal(await page.$eval("#f-name", (field) => field.value), ADDRESS.name);
        await seen("checkout-contact");
        await go(page, "/checkout?step=methods");
        await seen("checkout-methods");
        await methods(page);
        await seen("checkout-summary");
        const total = await text(page, ".sums .total td");
        await follow(page, ".beside form button");
        await pay(page, seen);
        assert.equal(await text(page, ".sums .total td"), total);
        assert.match(await text(page, ".facts"), /Please ring twice/);
        await seen("order");
        const order = path(page);
        const mail = await mailTo(email, "paid");
        assert.ok(mail.includes(total), "the sum is in the mail");
        assert.equal(link(await mailTo(email, "placed"), "/order/"), order);
        await go(page, "/cart");
        assert.match(await text(page, "main"), /Your cart is empty/);
        await seen("cart-empty");
        assert.ok(!(await has(page, ".cart-count")));
        assert.deepEqual(wrong, []);
      });
    }
  }
}

/** Signs in on the page that is open. */
async function signIn(page, email, password) {
  await fill(page, { email, password });
  await follow(page, ".narrow form button");
}

/** An account from its beginning to its end. */
export async function accounts() {
  for (const [{ viewport, scheme }, scripts] of [[LOOKS[0], true], [LOOKS[1], true], [LOOKS[1], false]]) {
    await test(`${viewport.name}, ${scripts ? "with" : "without"} scripts: an account`, async () => {
      const { page, wrong } = await open({ viewport, scheme, scripts, apart: true });
      const email = `own-${viewport.name}-${scripts}@example.com`;
      const seen = async (name) => { if (scripts) { await look(page, viewport, `${name}-${viewport.name}-${scheme}`); } };
      await go(page, "/account");
      await seen("sign-in");
      await follow(page, ".links a[href$=sign-up]");
      await page.$eval(".narrow form", (form) => { form.noValidate = true; });
      await fill(page, { name: "Ann Example", email, password: "short" });
      await follow(page, ".narrow form button");
      assert.match(await text(page, ".error-summary"), /at least 8 characters/);
      assert.equal(await page.$eval("#f-email", (field) => field.value), email);
      await seen("sign-up");
      await fill(page, { password: "a long first password" });
      await follow(page, ".narrow form button");
      assert.equal(await text(page, "h1"), "My account");
      assert.match(await text(page, ".notice"), /confirm your address/);
      await go(page, link(await mailTo(email, "confirm"), "/account/confirm"));
      await seen("confirm");
      await follow(page, ".narrow form button");
      assert.ok(!(await has(page, "main > .notice")));

      await click(page, "details:has([value=add_address]) > summary");
      await fill(page, ADDRESS);
      await follow(page, "form:has([value=add_address]) button");
      assert.match(await text(page, ".addresses"), /Main street 1/);
      await seen("account");
      await follow(page, "[value=sign_out]");
      await signIn(page, email, "another password");
      assert.match(await text(page, ".error-summary"), /The address or the password is wrong/);

      await follow(page, ".links a[href$=password]");
      await seen("password");
      await fill(page, { email });
      await follow(page, ".narrow form button");
      assert.match(await text(page, ".notice"), /the mail is on its way/);
      await go(page, link(await mailTo(email, "password"), "/account/password"));
      await fill(page, { password: "a long second password" });
      await follow(page, ".narrow form button");
      await go(page, "/account");
      if (await has(page, ".narrow")) {
        await signIn(page, email, "a long second password");
      }
      assert.equal(await text(page, "h1"), "My account");

      await go(page, "/tin-with-double-lid");
      await follow(page, ".add button[name=do]");
      await follow(page, ".beside a.large");
      await click(page, "[name=address_id]");
      await follow(page, "form.checkout > button");
      await click(page, "[name=shipping]");
      await click(page, "[name=payment]");
      await follow(page, "form.checkout > button");
      await follow(page, ".beside form button");
      const order = await text(page, "h1");
      await go(page, "/account");
      assert.ok((await text(page, ".orders")).includes(order));
      await follow(page, ".orders a");
      await follow(page, "[value=cancel]");
      assert.match(await text(page, ".lead"), /was cancelled/);

      await go(page, "/account");
      await click(page, "details:has([value=erase]) > summary");
      await set(page, "#f-erase_password", "a long second password");
      await follow(page, "form:has([value=erase]) button");
      assert.equal(await text(page, "h1"), "Sign in");
      await signIn(page, email, "a long second password");
      assert.match(await text(page, ".error-summary"), /wrong/);
      assert.deepEqual(wrong, []);
    });
  }
}
