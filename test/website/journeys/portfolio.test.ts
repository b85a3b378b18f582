import test from "ava";
import type { Locator } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import { makeOffered, sharesOf, statusesOf } from "../steps.ts";

/** What the portfolio shows of open orders and of shares. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeMarket, operate } = service;

journey("open orders show their budget, and until when they wait", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const place = (body: object) => call("POST", "/api/v1/orders", { key, body });
  const live = { title: "A match", category: "tests", live: true, live_delay_ms: 60_000 };
  const event_id = await operate("create_event", live);
  const match = await operate("create_market", {
    ...{ title: "Will they score?", category: "tests", event_id },
  });
  const marketId = await makeMarket({ title: "Will it snow?" });
  await place({ marketId: match, side: "yes", price: null, budgetCents: 1250 });
  const order = { marketId, side: "no", price: 30, quantity: 5 };
  await place(order);
  await place({ ...order, price: 31, expiresAt: "2100-05-01T12:00:00Z" });

  await page.goto("/portfolio");
  const row = (name: RegExp) => page.getByRole("row", { name }).waitFor();
  await row(/Will they score\? Buy YES Budget €12\.50 – Being released its release/);
  await row(/Will it snow\? Buy NO 30¢ 0 \/ 5 .+ no end/);
  await row(/Will it snow\? Buy NO 31¢ 0 \/ 5 .+ 1 May 2100/);
  await page.setViewportSize({ width: 375, height: 800 });
  const compact = page.getByText(/^Buy NO · until 1 May 2100/);
  await compact.waitFor();
  t.is(await compact.count(), 1);
});

journey("all orders are cancelled, also those that a full list leaves out", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const fast = { tier: "custom", requests_per_minute: 6000, burst_capacity: 300 };
  await operate("set_rate_policy", { user_id: userId, ...fast });
  const marketIds = [await makeMarket({ title: "One?" }), await makeMarket({ title: "Two?" })];
  const place = async (marketId: string, count: number) => {
    const order = { marketId, side: "yes", price: 2, quantity: 1 };
    const orders = Array.from({ length: count }, () => order);
    await call("POST", "/api/v1/orders/batch", { key, body: { orders } });
  };
  const [one, two] = marketIds as [string, string];
  await place(one, 2);
  for (const count of [50, 50, 50, 50, 1]) await place(two, count);
  await page.goto(`/markets/${one}`);
  await page.getByRole("button", { name: "Cancel all orders" }).click();
  await page.getByText("No open orders in this market").waitFor();
  const left = async () => (await statusesOf(service, userId)).filter((one) => one === "open");
  t.is((await left()).length, 201);
  await page.goto("/portfolio");
  await page.getByText("These are the newest 200 open orders; there may be more.").waitFor();
  await page.getByRole("button", { name: "Cancel all orders" }).click();
  await page.getByText("No open orders", { exact: true }).waitFor();
  t.deepEqual(await left(), []);
});

journey(
  "YES and NO shares of a market are merged into cash, after a question",
  async (t, browser) => {
    const { page, userId } = await arrive(browser, service);
    const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
    const marketId = await makeMarket({ title: "Will it thaw?" });
    await call("POST", "/api/v1/positions/split", { key, body: { marketId, quantity: 7 } });
    await page.goto("/portfolio");
    await page.getByText("you hold 7 YES and 7 NO").waitFor();
    const button = page.getByRole("button", { name: "Merge into cash: Will it thaw?" });
    const question = page.getByRole("dialog", { name: "Merge into €7.00?" });
    await button.click();
    await question.getByRole("button", { name: "Back" }).click();
    t.is(await sharesOf(service, userId), 14);

    // The first request is lost on its way.
    let requests = 0;
    await page.route("**/api/v1/positions/merge", async (route) => {
      if (++requests === 1) await route.abort();
      else await route.continue();
    });
    await button.click();
    const confirm = question.getByRole("button", { name: "Merge into cash" });
    await confirm.click();
    await question.getByText("The server gave no answer").waitFor();
    await confirm.click();
    await page.getByText("You hold no shares", { exact: true }).waitFor();
    await page.locator(".cash").getByText("€1,000.00").waitFor();
    t.is(await question.count(), 0);
    t.is(await sharesOf(service, userId), 0);
  },
);

journey("shares of a market without a trade are shown at cost", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const split = async (marketId: string) =>
    call("POST", "/api/v1/positions/split", { key, body: { marketId, quantity: 5 } });
  const marketId = await makeMarket({ title: "Will it be calm?" });
  await split(marketId);
  await page.goto("/portfolio");
  const totals = page.locator(".totals");
  await totals.getByText("Shares at cost").waitFor();
  const calm = /Will it be calm\? NO 5 50¢ – €2\.50 €0\.00 €2\.50 at cost/;
  await page.getByRole("row", { name: calm }).waitFor();
  await page.goto(`/markets/${marketId}`);
  await page.getByText("at cost €2.50").first().waitFor();
  t.is(await page.getByText("at the last price").count(), 0);

  const { marketId: traded } = await makeOffered(service, "Will it be windy?");
  const order = { marketId: traded, side: "yes", price: 60, quantity: 5 };
  await call("POST", "/api/v1/orders", { key, body: order });
  await page.goto("/portfolio");
  await totals.getByText("Shares at the last price or at cost").waitFor();
  await page.getByRole("row", { name: calm }).waitFor();
  const windy = page.getByRole("row", { name: /Will it be windy\? YES 5 60¢ 60¢ €3\.00/ });
  t.false((await windy.innerText()).includes("at cost"));
});

journey("lists say of an undone trade which it was, and when", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const { marketId } = await makeOffered(service, "Will it drizzle?");
  const buy = async (quantity: number) => {
    const body = { marketId, side: "yes", price: 60, quantity };
    return (await call("POST", "/api/v1/orders", { key, body })).body.fills[0].id;
  };
  const undone = await buy(5); // 300 cents, and 7% of 5 x 0.6 x 0.4 = 8.4 cents
  await buy(10); // 600 cents, and 16.8 cents
  await operate("void_trade", { trade_id: undone, reason: "entered twice" });
  await page.goto("/portfolio");
  await page.getByRole("radio", { name: "Statement" }).check();
  const row = (name: RegExp) => page.getByRole("row", { name });
  await row(/Trade undone Will it drizzle\? the trade of .+ \+€3\.09/).waitFor();
  await row(/Trade Will it drizzle\? undone on .+ -€3\.09/).waitFor();
  await row(/Trade Will it drizzle\? -€6\.17/).waitFor();
  // The title of the market has a line of its own.
  const lines = page.getByRole("rowheader").filter({ hasText: "Trade undone" });
  t.regex(await lines.innerText(), /^Trade undone\n+Will it drizzle\?\n+the trade of /);
  const undoneIn = async (list: string): Promise<string[]> => {
    await page.getByRole("radio", { name: list, exact: true }).check();
    const rows = page.getByRole("region", { name: list, exact: true }).getByRole("row");
    await rows.filter({ hasText: "10" }).first().waitFor();
    const texts = await rows.filter({ hasText: "Undone on" }).allInnerTexts();
    return texts.map((text) => text.replaceAll(/\s+/g, " "));
  };
  for (const list of ["Trades", "Orders"]) {
    const [only = "", ...more] = await undoneIn(list);
    t.regex(only, /Will it drizzle\? Undone on .+ YES .*5/);
    t.is(more.length, 0, list);
  }

  await operate("void_market", { market_id: marketId, reason: "a wrong question" });
  await page.reload();
  await page.getByRole("radio", { name: "Statement" }).check();
  await row(/Trades undone Will it drizzle\? \+€6\.17/).waitFor();
  t.is(await page.getByText("undone on").count(), 1);
  for (const list of ["Trades", "Orders"]) t.is((await undoneIn(list)).length, 2, list);
});

journey("on a small phone the result of what was paid out is in sight", async (t, browser) => {
  const { page, userId } = await arrive(browser, service, { width: 360 });
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const { marketId, maker } = await makeOffered(service, "Will it be foggy in the morning?");
  const trade = (by: string, body: object) =>
    call("POST", "/api/v1/orders", { key: by, body: { marketId, side: "yes", ...body } });
  await trade(key, { price: 60, quantity: 50 });
  await trade(maker.key, { price: 50, quantity: 20 });
  await trade(key, { orderType: "sell", price: 50, quantity: 20 });
  await operate("resolve_market", { market_id: marketId, outcome: "yes" });
  await page.goto("/portfolio");
  await page.getByText("of it before the payout").waitFor();
  const box = page.getByRole("region", { name: "Table of what was paid out" });
  t.true(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth <= 1));
});

journey(
  "what came of merged shares is listed before and after the payout, so that all results add up",
  async (t, browser) => {
    const { page, userId } = await arrive(browser, service);
    const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
    const { marketId, maker } = await makeOffered(service, "Will it hail?");
    const buy = (by: string, side: string, price: number) =>
      call("POST", "/api/v1/orders", { key: by, body: { marketId, side, price, quantity: 5 } });
    await buy(key, "yes", 60);
    await buy(maker.key, "yes", 50);
    await buy(key, "no", 50);
    await call("POST", "/api/v1/positions/merge", { key, body: { marketId, quantity: 5 } });
    const centsIn = (text: string): number => Number(text.replace(/[^\d-]/g, ""));
    const all = page.locator(".totals > div", { hasText: /^Realised, after fees/ }).locator("dd");
    const addsUp = async (table: Locator): Promise<void> => {
      const cents = (await table.locator("td:last-child > .amount").allInnerTexts()).map(centsIn);
      t.is(cents.length, 2);
      t.is(centsIn(await all.innerText()), Number(cents[0]) + Number(cents[1]));
    };
    await page.goto("/portfolio");
    const closed = page.getByRole("region", { name: "Table of what was sold" });
    await closed.getByRole("row", { name: /Will it hail\? NO/ }).waitFor();
    await addsUp(closed);
    await page.goto(`/markets/${marketId}`);
    await page.getByText("All sold, merged or converted:").first().waitFor();

    await operate("resolve_market", { market_id: marketId, outcome: "yes" });
    await page.goto("/portfolio");
    const paid = page.getByRole("region", { name: "Table of what was paid out" });
    await paid.getByRole("row", { name: /Will it hail\? NO 0 YES,/ }).waitFor();
    await addsUp(paid);
    t.is(await closed.count(), 0);

    // None was paid out, so the outcome is not the user's to dispute.
    await page.goto(`/markets/${marketId}`);
    await page.getByText("NO · 0 shares").waitFor();
    await page.waitForLoadState("networkidle");
    t.is(await page.getByRole("button", { name: "Dispute the outcome" }).count(), 0);
  },
);
