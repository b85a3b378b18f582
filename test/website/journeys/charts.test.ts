import test from "ava";
import { testClock } from "../../helpers/database/test_clock.ts";
import { testService } from "../../helpers/http/test_service.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { look, views } from "../views.ts";

/** Charts draw trades at their times, and say in a table what they draw. */

const service = testService(test, { website: true });
const { call, makeTrader, operate } = service;
const HOUR_MS = 3_600_000;

/** The chart of an event is made of candles, which the worker makes. */
async function makeCandles(): Promise<void> {
  for (let done = 1; done > 0;) {
    const { rows } = await service.worker.query("select jobs.make_candles() as done");
    done = Number(rows[0].done);
  }
}

journey("charts of a market and of its event, as pictures and as tables", async (t, browser) => {
  const clock = testClock(service.database.pool);
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  await clock.freeze(new Date(now - 10 * 24 * HOUR_MS));
  const about = { category: "tests" };
  const event_id = await operate("create_event", { ...about, title: "Who wins?" });
  const marketIds: string[] = [];
  for (const name of ["Ann", "Bob", "Cem", "Dora", "Emil", "Fay", "Gus"]) {
    const market = { ...about, event_id, title: `Will ${name} win the long race of the year?` };
    marketIds.push(await operate("create_market", market));
  }
  const [maker, taker] = [await makeTrader(), await makeTrader()];
  const trade = async (marketId: string, price: number, quantity: number): Promise<void> => {
    const place = { marketId, quantity };
    const rest = { ...place, side: "no", price: 100 - price };
    await call("POST", "/api/v1/orders", { key: maker.key, body: rest });
    await call("POST", "/api/v1/orders", {
      key: taker.key,
      body: { ...place, side: "yes", price },
    });
  };
  const [first = ""] = marketIds;
  // Traded ten days ago, and then five and one day ago: a week begins with the oldest price.
  for (const [days, price] of [
    [10, 30],
    [5, 44],
    [1, 52],
  ] as const) {
    await clock.freeze(new Date(now - days * 24 * HOUR_MS));
    await trade(first, price, 10 + days);
    for (const [index, id] of marketIds.slice(1).entries()) {
      await trade(id, 5 + 4 * index + days, 3);
    }
  }
  await clock.release();
  await makeCandles();

  for (const view of views) {
    const { page, complaints } = await visit(browser, service.url, view);
    await page.goto(`/markets/${first}`);
    const picture = page.locator(".chart-panel").getByRole("img");
    await picture.waitFor();
    const label = await picture.getAttribute("aria-label");
    t.is(label, "Price of YES in the last week: from 30% to 52%, between 30% and 52%");
    // The line begins at the left side, and its steps are as far apart as their times.
    const path = (await page.locator(".chart-line").getAttribute("d")) ?? "";
    const points = [...path.matchAll(/[MH]([\d.]+)[ V]([\d.]+)/g)].map(([, x, y]) => [x, y]);
    const end = Number(points.at(-1)?.[0]);
    const changes = points.filter(([, y], index) => y !== points[index - 1]?.[1]);
    const [begin = NaN, five = NaN, one = NaN] = changes.map(([x]) => Number(x));
    t.is(begin, 0);
    t.true(Math.abs((one - five) / end - 4 / 7) < 0.01, path);

    const summary = page.getByText("The same as a table");
    await summary.focus();
    await page.keyboard.press("Enter");
    const table = page.getByRole("region", { name: "Table of the chart" });
    const cells = await table.getByRole("row").allInnerTexts();
    t.deepEqual(
      cells.slice(1).map((row) =>
        row
          .split("\t")
          .slice(1)
          .map((cell) => cell.trim()),
      ),
      [
        ["52¢", "11"],
        ["44¢", "15"],
        ["30¢", "–"],
      ],
    );
    await look(t, page, "chart-market", view);

    await page.goto(`/events/${event_id}`);
    await page.locator(".chart-end").first().waitFor();
    const lines = await page.locator(".chart-picture .chart-line").all();
    t.is(lines.length, 6);
    // Each was traded before the week began, so its line goes from one side to the other.
    for (const line of lines) {
      const drawn = (await line.getAttribute("d")) ?? "";
      t.regex(drawn, /^M0\.0 /);
      t.true(new Set(drawn.match(/(?<=[ V])[\d.]+/g)).size >= 3, drawn);
    }
    await look(t, page, "chart-event", view);
    t.deepEqual(complaints, []);
  }

  // Wide names at three prices that are close hide no figure of the axis, and are not cut off.
  const close_event: string = await operate("create_event", { ...about, title: "Which is it?" });
  const closeIds: string[] = [];
  for (const outcome_name of ["WWWWMMMMWWWW", "Bob", "Cem"]) {
    const market = { ...about, event_id: close_event, title: `${outcome_name}?`, outcome_name };
    closeIds.push(await operate("create_market", market));
  }
  const reader = await visit(browser, service.url, views[0]);
  await reader.page.goto(`/events/${close_event}`);
  await reader.page.getByText("No trades yet.").waitFor();
  for (const [index, id] of closeIds.entries()) await trade(id, 45 - 5 * index, 3);
  await makeCandles();
  // The chart is not kept beyond the load of the page.
  await reader.page.reload();
  const picture = reader.page.locator(".chart-picture svg");
  await picture.getByText("WWWWMMMMWWWW").waitFor();
  t.true((await picture.getByText(/%$/).count()) >= 2);
  const box = (await picture.boundingBox())!;
  for (const text of await picture.locator("text").all()) {
    const { x, width } = (await text.boundingBox())!;
    t.true(x + width <= box.x + box.width, (await text.textContent())!);
  }
  await look(t, reader.page, "chart-names", views[0]!);

  // A live trade moves the end of the line to its price.
  const { page } = await visit(browser, service.url);
  await page.goto(`/markets/${first}`);
  await page.locator(".chart-end", { hasText: "52%" }).waitFor();
  await trade(first, 61, 4);
  await page.locator(".chart-end", { hasText: "61%" }).waitFor();
  await operate("resolve_market", { market_id: first, outcome: "yes" });
  await page.getByText("is the outcome").waitFor();
  await page.locator(".chart-end", { hasText: "61%" }).waitFor();
});
