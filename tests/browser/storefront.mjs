// The storefront as visitors use it: every page by an accessibility check, the ways through it with and without scripts.
import assert from "node:assert/strict";
import { accounts, buying } from "./buying.mjs";
import { DESKTOP, PHONE, TABLET, end, findings, follow, go, has, look, open, test, text, weighs } from "./visitor.mjs";

/** Pages to look at, by name. */
const PAGES = {
  home: "/",
  category: "/tea",
  narrowed: "/tea?f_origin[]=china&f_taste[]=sweet",
  empty: "/tea?f_origin[]=kenya&f_organic[]=1&f_caffeine[]=none",
  product: "/sencha-of-the-first-flush",
  reviewed: "/tin-with-double-lid",
  search: "/search?q=teapto",
  nothing: "/search?q=bulldozer",
  contact: "/contact",
  text: "/delivery",
  missing: "/no-such-page",
};

/** Those with most on them are looked at at every width and in both colour schemes, the others in two ways. */
const BUSY = ["home", "category", "product", "reviewed", "search"];
const LOOKS = [[DESKTOP, "light"], [PHONE, "dark"]];

for (const [name, path] of Object.entries(PAGES)) {
  for (const [viewport, scheme] of BUSY.includes(name) ? [...LOOKS, [PHONE, "light"], [DESKTOP, "dark"], [TABLET, "light"]] : LOOKS) {
    await test(`${name}, ${viewport.name}, ${scheme}: light, still, accessible`, async () => {
      const { page, wrong } = await open({ viewport, scheme });
      const loaded = await go(page, path);
      assert.equal(loaded.status, name === "missing" ? 404 : 200);
      weighs(loaded);
      await look(page, viewport, `${name}-${viewport.name}-${scheme}`);
      assert.deepEqual(wrong, []);
    });
  }
}

for (const viewport of [DESKTOP, PHONE]) {
  await test(`${viewport.name}: suggestions by keyboard, of a misspelt word`, async () => {
    const { page, wrong } = await open({ viewport });
    await go(page, "/");
    await page.type("#find", "senhca");
    await page.waitForSelector("#find-list [role=option]");
    assert.match(await text(page, "#find-list [role=option]"), /Sencha of the first flush/);
    assert.deepEqual(await findings(page), []);
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.$eval("#find", (input) => input.getAttribute("aria-activedescendant")), "find-list-0");
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    assert.equal(new URL(page.url()).pathname, "/sencha-of-the-first-flush");
    assert.deepEqual(wrong, []);
  });

  for (const scripts of [true, false]) {
    const how = `${viewport.name}, ${scripts ? "with" : "without"} scripts`;
    await test(`${how}: a misspelt word, a filter, a variant`, async () => {
      const { page, wrong } = await open({ viewport, scripts });
      await go(page, "/");
      await page.$eval("#find", (input) => { input.value = "senhca"; });
      await follow(page, ".find button");
      assert.match(await text(page, ".notice"), /Nothing was found for “senhca”.*“sencha”/);
      await follow(page, ".card a");
      assert.equal(await text(page, "h1"), "Sencha of the first flush");

      const before = await text(page, ".buy .sum");
      await follow(page, ".option a.choice:not(.none)");
      assert.notEqual(await text(page, ".buy .sum"), before);
      assert.match(page.url(), /\?v=\d+$/);

      await go(page, "/tea");
      const all = Number.parseInt(await text(page, ".total"), 10);
      if (viewport === PHONE) {
        assert.equal(await page.$eval(".filters", (form) => getComputedStyle(form).display), "none");
        await page.$eval(".open-filters", (link) => link.click());
        assert.equal(await page.$eval(".filters", (form) => getComputedStyle(form).display), "block");
      }
      const wanted = Number(await text(page, "label:has([name='f_origin[]'][value=china]) .count"));
      await page.$eval("[name='f_origin[]'][value=china]", (box) => box.click());
      await follow(page, ".filters .go button");
      assert.equal(Number.parseInt(await text(page, ".total"), 10), wanted);
      assert.ok(wanted < all);
      assert.match(await text(page, ".chips.chosen"), /Origin: China/);
      await page.$eval("#sort", (select) => { select.value = "price_down"; });
      await follow(page, ".sort button");
      assert.match(page.url(), /f_origin.*sort=price_down/);
      assert.equal(Number.parseInt(await text(page, ".total"), 10), wanted);
      await follow(page, ".chips.chosen a");
      assert.equal(Number.parseInt(await text(page, ".total"), 10), all);
      assert.deepEqual(wrong, []);
    });

    await test(`${how}: a review with a mistake, and without`, async () => {
      const { page, wrong } = await open({ viewport, scripts });
      await go(page, "/hojicha-powder");
      await page.$eval(".write > summary", (summary) => summary.click());
      await page.$eval("#star-4", (star) => star.click());
      await page.$eval("#review-name", (input) => { input.value = "Ann"; });
      // What the browser would not send is sent anyhow.
      await page.$eval(".write form", (form) => { form.noValidate = true; });
      await page.$eval("#review-text", (area) => { area.value = "short"; });
      await follow(page, ".write form button");
      assert.match(await text(page, ".error-summary"), /10 to 5,000 letters/);
      assert.equal(await page.$eval("#star-4", (star) => star.checked), true);
      assert.equal(await page.$eval("#review-text", (area) => area.getAttribute("aria-invalid")), "true");
      if (scripts) {
        assert.deepEqual(await findings(page), []);
        assert.equal(await page.evaluate(() => document.activeElement.className), "error-summary");
      }
      await page.$eval("#review-text", (area) => { area.value = "Roasted, sweet, and gone too soon."; });
      await follow(page, ".write form button");
      assert.match(await text(page, ".notice"), /Your review appears once/);
      assert.deepEqual(wrong, []);
    });

    await test(`${how}: a message`, async () => {
      const { page, wrong } = await open({ viewport, scripts });
      await go(page, "/contact");
      for (const [field, value] of [["name", "Ann"], ["email", "ann@example.com"], ["text", "Do you send to Iceland?"]]) {
        await page.$eval(`#contact-${field}`, (input, value) => { input.value = value; }, value);
      }
      await follow(page, ".form button");
      assert.match(await text(page, ".notice"), /has arrived/);
      assert.deepEqual(wrong, []);
    });
  }
}

await test("desktop: from the home page to a brand", async () => {
  const { page, wrong } = await open();
  await go(page, "/");
  const name = await text(page, "[aria-labelledby=brands] a");
  await follow(page, "[aria-labelledby=brands] a");
  assert.equal(await text(page, "h1"), name);
  await look(page, DESKTOP, "brand-desktop-light");
  assert.deepEqual(wrong, []);
});

await test("desktop: menus open and close by keyboard", async () => {
  const { page, wrong } = await open();
  await go(page, "/");
  await page.focus(".menu summary");
  await page.keyboard.press("Enter");
  assert.ok(await has(page, ".menu details[open]"));
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "/tea");
  await page.keyboard.press("Escape");
  assert.ok(!(await has(page, ".menu details[open]")));
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
  assert.deepEqual(wrong, []);
});

await test("phone: the drawer and the sheet of filters", async () => {
  const { page, wrong } = await open({ viewport: PHONE });
  await go(page, "/tea");
  await page.click(".drawer > summary");
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press("Escape");
  assert.ok(!(await has(page, ".drawer[open]")));
  await page.click(".open-filters");
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => location.hash === "#found");
  assert.deepEqual(wrong, []);
});

await test("the first Tab leads past the head", async () => {
  const { page } = await open();
  await go(page, "/");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
});

await buying();
await accounts();
await end();
