import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { buy, makeOffered, statusesOf } from "../steps.ts";

/** Many windows of one browser side by side, over HTTP/1.1: it has six connections for all. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeTrader, operate } = service;

const notLive = (page: Page) => page.getByText("Not live: 3 other windows");

/** Notes which streams the windows opened. They are closed with the window, or by the page. */
function watchStreams(page: Page, opened: string[]): void {
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.includes("/stream")) opened.push(pathname);
  });
}

journey("five windows of a trader share one stream of theirs, and work", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be windy?");
  const { page, userId } = await arrive(browser, service);
  await page.goto("about:blank");
  const opened: string[] = [];
  const windows = [page];
  while (windows.length < 5) windows.push(await page.context().newPage());
  for (const one of windows) {
    watchStreams(one, opened);
    await one.addInitScript("window.setInterval = () => 0");
    await one.goto(`/markets/${marketId}`);
    await one.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();
  }
  const [, second, third, fourth, fifth] = windows as [Page, Page, Page, Page, Page];
  await notLive(fourth).waitFor();
  await notLive(fifth).waitFor();
  t.is(await notLive(third).count(), 0);
  t.is(opened.filter((path) => path.endsWith("/market/" + marketId)).length, 3);
  t.is(opened.filter((path) => path.endsWith("/stream/user")).length, 1);

  // Each window can order and cancel, and all hear of it.
  await buy(fifth, 20, 3);
  const cancel = (one: Page) => one.getByRole("button", { name: "Cancel: Buy 3 YES at 20¢" });
  for (const one of windows) await cancel(one).waitFor();
  await cancel(third).click();
  for (const one of windows) await cancel(one).waitFor({ state: "detached" });
  t.deepEqual(await statusesOf(service, userId), ["cancelled"]);

  // The window with the user's stream is closed: another one takes it, and one more is live.
  await buy(second, 45, 10);
  for (const one of windows) await one.getByText("0 of 10 filled").waitFor();
  await page.close();
  await until("another window is live", async () => {
    const [atFourth, atFifth] = [await notLive(fourth).count(), await notLive(fifth).count()];
    return atFourth + atFifth === 1;
  });
  const { key } = await makeTrader();
  const body = { marketId, side: "no", price: 55, quantity: 4 };
  await call("POST", "/api/v1/orders", { key, body });
  for (const one of windows.slice(1)) await one.getByText("4 of 10 filled").waitFor();
  t.is(opened.filter((path) => path.endsWith("/stream/user")).length, 2);
});

journey("what happens between two windows' user streams is read anew", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be gusty?");
  const { page } = await arrive(browser, service);
  const other = await page.context().newPage();
  for (const one of [page, other]) {
    await one.addInitScript("window.setInterval = () => 0");
    await one.goto(`/markets/${marketId}`);
  }
  await buy(other, 45, 10);
  await other.getByText("0 of 10 filled").waitFor();
  // The other window cannot open its stream before the order is filled.
  const opening = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  await other.route("**/api/stream/user*", async (route) => {
    opening.resolve(undefined);
    await held.promise;
    await route.continue();
  });
  await page.close();
  await opening.promise;
  const { key } = await makeTrader();
  const body = { marketId, side: "no", price: 55, quantity: 1 };
  // What was read for an earlier reason may show the first of these.
  const shown = (shares: number) => other.getByText(`${shares} of 10 filled`);
  let filled = 0;
  do {
    await call("POST", "/api/v1/orders", { key, body });
    filled++;
    await other.waitForTimeout(500);
  } while ((await shown(filled).count()) > 0);
  held.resolve(undefined);
  await shown(filled).waitFor();
  t.true(filled < 10);
});

journey("windows of a guest load, and hear of a pause", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be calm?");
  const { page, complaints } = await visit(browser, service.url);
  const windows = [page];
  while (windows.length < 5) windows.push(await page.context().newPage());
  for (const one of windows) {
    await one.goto(`/markets/${marketId}`);
    await one.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();
  }
  await notLive(windows[4]!).waitFor();
  await operate("set_market_status", { market_id: marketId, status: "paused" });
  await page.getByRole("heading", { name: "Trading is paused" }).waitFor();
  t.deepEqual(complaints, []);
});
