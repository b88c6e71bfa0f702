// The storefront as visitors use it: every page by an accessibility check, the ways through it with and without scripts.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { storefront } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const profile = process.argv[3];
const pictures = process.env.PICTURES;
if (pictures) {
  mkdirSync(pictures, { recursive: true });
}

const DESKTOP = { name: "desktop", width: 1280, height: 860 };
const PHONE = { name: "phone", width: 390, height: 844, isMobile: true, hasTouch: true };
const TABLET = { name: "tablet", width: 768, height: 1024 };
/** Most bytes of a page without its pictures, and most shift of its layout. */
const HEAVIEST = 100 * 1024;
const MOST_SHIFT = 0.05;
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

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  userDataDir: profile,
  args: [
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--hide-scrollbars",
  ],
});
let passed = 0;
let failed = 0;

/** A page that notes what goes wrong on it. */
async function open({ viewport = DESKTOP, scheme = "light", scripts = true } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.setViewport(viewport);
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setJavaScriptEnabled(scripts);
  // Each page is weighed as it comes to somebody new.
  await page.setCacheEnabled(false);
  const wrong = [];
  page.on("console", (message) => {
    // That a page is missing is what its own test asks for.
    if (message.type() === "error" && !/status of 4(04|22)/.test(message.text())) {
      wrong.push(message.text());
    }
  });
  page.on("pageerror", (error) => wrong.push(error.message));
  await page.evaluateOnNewDocument(() => {
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        globalThis.shift += entry.hadRecentInput ? 0 : entry.value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return { page, wrong };
}

/** Goes to a page and tells its status and its weight without pictures. */
async function go(page, path) {
  let weight = 0;
  const strangers = [];
  const count = async (response) => {
    if (!response.url().startsWith(storefront) && !response.url().startsWith("data:")) {
      strangers.push(response.url());
    }
    if (!(response.headers()["content-type"] ?? "").startsWith("image/") && response.status() < 300) {
      weight += (await response.buffer().catch(() => Buffer.alloc(0))).length;
    }
  };
  page.on("response", count);
  const response = await page.goto(storefront + path, { waitUntil: "load" });
  await page.waitForNetworkIdle({ idleTime: 100 });
  page.off("response", count);
  return { status: response.status(), weight, strangers };
}

async function test(name, work) {
  try {
    await work();
    passed += 1;
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  } finally {
    await Promise.all((await browser.pages()).slice(1).map((page) => page.close()));
  }
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent.replace(/\s+/g, " ").trim());
const has = async (page, selector) => (await page.$(selector)) !== null;

/** What axe finds wrong, in one line each. */
async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary.split("\n")[1] ?? ""}`));
}

/** Clicks what leads to another page, and waits for it. */
async function follow(page, selector) {
  await page.waitForSelector(selector);
  await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.$eval(selector, (element) => element.click())]);
  await page.waitForNetworkIdle({ idleTime: 50 });
}

for (const [name, path] of Object.entries(PAGES)) {
  for (const [viewport, scheme] of [[DESKTOP, "light"], [PHONE, "dark"], [PHONE, "light"], [DESKTOP, "dark"], [TABLET, "light"]]) {
    await test(`${name}, ${viewport.name}, ${scheme}: light, still, accessible`, async () => {
      const { page, wrong } = await open({ viewport, scheme });
      const { status, weight, strangers } = await go(page, path);
      assert.equal(status, name === "missing" ? 404 : 200);
      assert.ok(weight > 1000 && weight < HEAVIEST, `${weight} bytes`);
      assert.deepEqual(strangers, []);
      if (pictures) {
        const path = `${pictures}/${name}-${viewport.name}-${scheme}.webp`;
        await page.screenshot({ path, type: "webp", quality: 82 });
      }
      const { scrollWidth, shift } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth, shift: globalThis.shift }));
      assert.ok(scrollWidth <= viewport.width, `${scrollWidth} wide`);
      assert.ok(shift < MOST_SHIFT, `shifts by ${shift}`);
      assert.deepEqual(await findings(page), []);
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

await browser.close();
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed ? 1 : 0;
