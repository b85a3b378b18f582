import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { makeOffered } from "../steps.ts";

/** Answers of an unexpected shape, and scripts that do not come. */

const service = testService(test, { website: true });

/** Answers of these paths are these, until the returned function is called. */
async function corrupt(page: Page, pattern: RegExp, json: unknown): Promise<() => Promise<void>> {
  await page.route(pattern, (route) => route.fulfill({ json }));
  return () => page.unroute(pattern);
}

const broken: { name: string; path: "home" | "market"; pattern: RegExp; json: unknown }[] = [
  { name: "a list that is none", path: "home", pattern: /\/api\/v1\/markets\?/, json: {} },
  {
    name: "a list of empty markets",
    path: "home",
    pattern: /\/api\/v1\/markets\?/,
    json: { data: [{ closeTime: "never" }], meta: { total: 1 } },
  },
  {
    name: "categories that are none",
    path: "home",
    pattern: /\/v1\/categories/,
    json: { data: 1 },
  },
  {
    name: "a market without its facts",
    path: "market",
    pattern: /\/v1\/markets\/[^/]+$/,
    json: {},
  },
  {
    name: "a market that closes never",
    path: "market",
    pattern: /\/v1\/markets\/[^/]+$/,
    json: { closeTime: "never", status: "open", description: null },
  },
  { name: "candles that are none", path: "market", pattern: /\/candles/, json: { data: 5 } },
];

for (const { name, path, pattern, json } of broken) {
  journey(`${name}: the page says so once, and comes back`, async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it hold?");
    const { page } = await visit(browser, service.url);
    let errors = 0;
    page.on("pageerror", () => errors++);
    let requests = 0;
    page.on("request", () => requests++);
    const restore = await corrupt(page, pattern, json);
    await page.goto(path === "home" ? "/" : `/markets/${marketId}`);
    const alert = page.getByRole("alert").filter({ has: page.getByRole("button") });
    await alert.first().waitFor();
    t.true(errors <= 2, `${errors} exceptions`);
    t.true(requests < 40, `${requests} requests`);
    await page.getByRole("link", { name: "Help" }).first().waitFor();
    await restore();
    // A market may have come back by itself, because its stream said that it changed.
    const again = alert.getByRole("button", { name: "Try again" }).first();
    await again.click({ timeout: 3000 }).catch(() => undefined);
    await alert.first().waitFor({ state: "detached" });
    await page.getByText("Will it hold?").first().waitFor();
  });
}

journey("another page is shown after one that failed", async (t, browser) => {
  await makeOffered(service, "Will it last?");
  const { page } = await visit(browser, service.url);
  await corrupt(page, /\/api\/v1\/markets\?/, { data: [{ closeTime: "never" }], meta: {} });
  await page.goto("/");
  await page.getByRole("alert").first().waitFor();
  await page.getByRole("link", { name: "Leaderboard" }).first().click();
  await page.getByRole("heading", { name: "Leaderboard" }).waitFor();
  t.is(await page.getByRole("alert").count(), 0);
});

journey("a script that does not come leaves a message", async (t, browser) => {
  const { page } = await visit(browser, service.url);
  await page.route(/\.js$/, (route) => route.abort());
  await page.goto("/");
  const message = page.getByText("This page could not be loaded");
  await message.waitFor();
  t.true(await message.isVisible());
  await page.unroute(/\.js$/);
  await page.getByRole("link", { name: "Load it again" }).click();
  await page.getByRole("heading", { name: "What will happen?" }).waitFor();
  t.is(await message.count(), 0);
});

journey("a chart whose prices do not come says so, and is drawn later", async (t, browser) => {
  const { marketId, maker } = await makeOffered(service, "Will it be drawn?");
  const taker = await service.makeTrader();
  const body = { marketId, side: "yes", price: 60, quantity: 5 };
  await service.call("POST", "/api/v1/orders", { key: taker.key, body });
  t.truthy(maker);
  const { page } = await visit(browser, service.url);
  await page.route(/\/candles\?/, (route) => route.abort());
  await page.goto(`/markets/${marketId}`);
  const alert = page.locator(".chart-panel").getByRole("alert");
  await alert.waitFor();
  await page.unroute(/\/candles\?/);
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.locator(".chart-end").waitFor();
});

test("without scripts the page says what it needs", async (t) => {
  const html = await (await fetch(`${service.url}/`)).text();
  t.regex(html, /<noscript>\s*<p[^>]*>This website needs JavaScript/);
});
