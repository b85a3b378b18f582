import { readFile } from "node:fs/promises";
import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { scrollsSideways } from "../browser.ts";
import { journey } from "../journey.ts";
import { makeOffered } from "../steps.ts";

/** Cash, shares and history, as the pages show them. */

const service = testService(test, { website: true, playMoneyCents: 0 });
const { call, operate } = service;

/** What a page does every few seconds, it does twice a second. */
async function hurry(page: Page): Promise<void> {
  await page.addInitScript(
    "const every = setInterval; window.setInterval = (call, ms) => every(call, Math.min(ms, 500));",
  );
}

const totals = (page: Page): Promise<string[]> => page.locator(".totals dd").allInnerTexts();

journey("deposits and trades of a program appear, and all figures agree", async (t, browser) => {
  const { marketId, maker } = await makeOffered(service, "Will the sun shine?");
  const { page, userId } = await arrive(browser, service);
  await page.getByText("Deposits are made by the exchange's operator.").waitFor();
  await hurry(page);
  await page.reload();
  await page.getByText("Nothing here yet").waitFor();

  await operate("deposit", { user_id: userId, amount_cents: 5000, reference: "transfer 1" });
  await page.locator(".cash").getByText("€50.00").waitFor();
  await page.locator(".totals").getByText("€50.00").first().waitFor();
  t.is(await page.getByText("Deposits are made by").count(), 0);

  const key: string = await operate("create_api_key", { user_id: userId, name: "bot" });
  const body = { marketId, side: "yes", price: 60, quantity: 10 };
  const { status } = await call("POST", "/api/v1/orders", { key, body });
  t.is(status, 201);
  // 10 shares at 60, and 0.07 x 10 x 0.6 x 0.4 EUR = 16.8 cents of fee.
  await page.locator(".cash").getByText("€43.83").waitFor();
  const trade = "Will the sun shine? Bought YES 10 60¢ €0.17 -€6.17 €43.83";
  await page.getByRole("row", { name: trade }).waitFor();
  const position = "Will the sun shine? YES 10 60¢ 60¢ €6.00 €0.17 €6.00 nobody buys now -€0.17";
  await page.getByRole("row", { name: position }).waitFor();
  t.deepEqual(await totals(page), ["€49.83", "€43.83", "€6.00", "-€0.17", "€0.00"]);

  await page.getByRole("radio", { name: "Orders" }).check();
  await page.getByText("Orders have no file").waitFor();
  const bid = { marketId, side: "yes", price: 30, quantity: 4 };
  t.is((await call("POST", "/api/v1/orders", { key: maker.key, body: bid })).status, 201);
  const market = { marketId, side: "yes", orderType: "sell", price: null, quantity: 10 };
  t.is((await call("POST", "/api/v1/orders", { key, body: market })).status, 201);
  const order = /Sell YES market 4 \/ 10 30¢ Cancelled: nothing more was offered at its price/;
  await page.getByRole("row", { name: order }).waitFor();
});

journey("a long statement is saved whole, and stays when it is read anew", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  await service.database.pool.query(
    `select admin.deposit(user_id => $1, amount_cents => 100, reference => 'number ' || n)
     from generate_series(1, 260) as n`,
    [userId],
  );
  await hurry(page);
  await page.goto("/portfolio");
  await page.getByRole("radio", { name: "Statement" }).check();
  const rows = page.getByRole("region", { name: "Statement", exact: true }).getByRole("row");
  // One row is the head.
  for (const count of [51, 101, 151, 201, 251]) {
    await rows.nth(count - 1).waitFor();
    t.is(await rows.count(), count);
    await page.getByRole("button", { name: "Show more" }).click();
  }
  await rows.nth(260).waitFor();
  await operate("deposit", { user_id: userId, amount_cents: 100, reference: "the last" });
  await rows.filter({ hasText: "the last" }).waitFor();
  t.is(await rows.count(), 262);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV" }).click();
  const file = await readFile(await (await download).path(), "utf8");
  const lines = file.trimEnd().split("\n");
  t.is(lines.length, 262);
  t.is(lines.filter((line) => line.includes("balanceAfter")).length, 1);
  t.is(new Set(lines).size, 262);
});

journey(
  "on a phone, rows have price, fee, cash and worth without scrolling",
  async (t, browser) => {
    const title = "Will the wind turn before the evening?";
    const { marketId, maker } = await makeOffered(service, title);
    const bid = { marketId, side: "yes", price: 50, quantity: 100 };
    await call("POST", "/api/v1/orders", { key: maker.key, body: bid });
    const { page, userId } = await arrive(browser, service, { width: 375 });
    await operate("deposit", { user_id: userId, amount_cents: 500_000, reference: "transfer" });
    const key: string = await operate("create_api_key", { user_id: userId, name: "bot" });
    for (const [price, quantity] of [
      [60, 100],
      [20, 1000],
    ]) {
      const body = { marketId, side: "yes", price, quantity };
      t.is((await call("POST", "/api/v1/orders", { key, body })).status, 201);
    }
    await page.reload();
    await page.getByText("Bought YES · 100 at 60¢ · fee €1.68").waitFor();
    await page.getByText("0 / 1,000").waitFor();
    await page.getByText("YES · 100 shares · cost €60.00").waitFor();
    // 100 at 50 less the fee of 1.75, for what cost 60 and 1.68 of fee.
    const sellNow = page.getByText("Sell now for €48.25 (-€13.43)").filter({ visible: true });
    await sellNow.waitFor();
    t.false(await scrollsSideways(page));
    // A fraction of a pixel counts as a whole one.
    const isScrolled = await page
      .locator(".table-box")
      .evaluateAll((boxes) =>
        boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth > 1),
      );
    t.deepEqual(isScrolled, [false, false, false]);
  },
);
