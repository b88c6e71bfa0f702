// A visitor in Chromium: pages opened, forms sent, and what is looked at on every page.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The shop that was started for the tests. */
export const shop = JSON.parse(readFileSync(process.argv[2], "utf8"));
const profile = process.argv[3];
const pictures = process.env.PICTURES;
if (pictures) {
  mkdirSync(pictures, { recursive: true });
}

export const DESKTOP = { name: "desktop", width: 1280, height: 860 };
export const PHONE = { name: "phone", width: 390, height: 844, isMobile: true, hasTouch: true };
export const TABLET = { name: "tablet", width: 768, height: 1024 };
/** Most bytes of a page without its pictures, and most shift of its layout. */
const HEAVIEST = 100 * 1024;
const MOST_SHIFT = 0.05;

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
export async function open({ viewport = DESKTOP, scheme = "light", scripts = true, apart = false } = {}) {
  // Who is apart has cookies of their own.
  const context = apart ? await browser.createBrowserContext() : browser.defaultBrowserContext();
  const page = await context.newPage();
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
export async function go(page, path) {
  let weight = 0;
  const strangers = [];
  const count = async (response) => {
    if (!response.url().startsWith(shop.storefront) && !response.url().startsWith("data:")) {
      strangers.push(response.url());
    }
    if (!(response.headers()["content-type"] ?? "").startsWith("image/") && response.status() < 300) {
      weight += (await response.buffer().catch(() => Buffer.alloc(0))).length;
    }
  };
  page.on("response", count);
  const response = await page.goto(shop.storefront + path, { waitUntil: "load" });
  await page.waitForNetworkIdle({ idleTime: 100 });
  page.off("response", count);
  return { status: response.status(), weight, strangers };
}

export async function test(name, work) {
  try {
    await work();
    passed += 1;
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  } finally {
    await Promise.all(browser.browserContexts().filter((one) => one !== browser.defaultBrowserContext()).map((one) => one.close()));
    await Promise.all((await browser.pages()).slice(1).map((page) => page.close()));
  }
}

export const text = (page, selector) => page.$eval(selector, (element) => element.textContent.replace(/\s+/g, " ").trim());
export const has = async (page, selector) => (await page.$(selector)) !== null;

/** What axe finds wrong, in one line each. */
export async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary.split("\n")[1] ?? ""}`));
}

/** Clicks what leads to another page, and waits for it. */
export async function follow(page, selector) {
  await page.waitForSelector(selector);
  await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.$eval(selector, (element) => element.click())]);
  await page.waitForNetworkIdle({ idleTime: 50 });
}

/** What is true of every page: nothing moves, nothing sticks out, nobody is left out; a picture of it, where wanted. */
export async function look(page, viewport, name) {
  if (pictures) {
    await page.screenshot({ path: `${pictures}/${name}.webp`, type: "webp", quality: 82 });
  }
  const { scrollWidth, shift } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth, shift: globalThis.shift ?? 0 }));
  assert.ok(scrollWidth <= viewport.width, `${name}: ${scrollWidth} wide`);
  assert.ok(shift < MOST_SHIFT, `${name}: shifts by ${shift}`);
  assert.deepEqual(await findings(page), [], name);
}

/** A page is light: its own bytes without pictures, and nothing of other sites. */
export function weighs({ weight, strangers }) {
  assert.ok(weight > 1000 && weight < HEAVIEST, `${weight} bytes`);
  assert.deepEqual(strangers, []);
}

/** Ends the browser and tells how many tests passed. */
export async function end() {
  await browser.close();
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed ? 1 : 0;
}
