import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { buy, buyButton, fillTicket, makeOffered, previewed, statusesOf } from "../steps.ts";

/** What operators do with markets, as the pages show it. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeMarket, operate } = service;

journey(
  "an operator resolves a market, and the page of a position pays out",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will the sun shine?");
    const { page } = await arrive(browser, service);
    // The page hears of it by its stream: nothing is asked for every few seconds.
    await page.addInitScript("window.setInterval = () => 0");
    await page.goto(`/markets/${marketId}`);
    await buy(page, 60, 5);
    await page.getByText("YES · 5 shares").waitFor();
    await operate("resolve_market", { market_id: marketId, outcome: "yes" });
    await page.getByRole("heading", { name: "Resolved: YES" }).waitFor();
    // 5.00 less 3.09.
    await page.getByText("Cost €3.00 and €0.09 of fees · paid out €5.00 (+€1.91)").waitFor();
    const head = page.locator(".market-head");
    await head.getByText("YESis the outcome").waitFor();
    t.regex(
      await head.innerText(),
      /Resolved\n.+\nA YES share paid\n€1\.00\nA NO share paid\n€0\.00/,
    );
    t.notRegex(await head.innerText(), /chance|Bid|Closes/);
    // 1,000.00 less 5 x 60 cents and 9 cents of fee, and 5.00 that the shares pay.
    await page.locator(".cash").getByText("€1,001.91").waitFor();
    t.is(await buyButton(page).count(), 0);
    t.is(await page.getByRole("button", { name: "Sell" }).count(), 0);

    await page.getByRole("link", { name: "portfolio", exact: true }).click();
    await page.getByText("You hold no shares", { exact: true }).waitFor();
    // What was paid out is cash, and is not counted as shares again.
    const paid = /Will the sun shine\? YES 5 YES, .+ €3\.09 €5\.00 \+€1\.91/;
    await page.getByRole("row", { name: paid }).waitFor();
    const totals = await page.locator(".totals dd").allInnerTexts();
    t.deepEqual(totals, ["€1,001.91", "€1,001.91", "€0.00", "€0.00", "+€1.91"]);
    await page.getByRole("row", { name: /Will the sun shine\? Bought YES 5 60¢ €0\.09/ }).waitFor();
    await page.getByRole("radio", { name: "Statement" }).check();
    const payOut = /Payout of a resolved market Will the sun shine\? \+€5\.00 €1,001\.91/;
    await page.getByRole("row", { name: payOut }).waitFor();

    // A list has the outcome in the place of the last chance.
    await page.goto("/?status=closed");
    const row = page.getByRole("listitem").filter({ hasText: "Will the sun shine?" });
    await row.getByText("was the outcome").waitFor();
    t.notRegex(await row.innerText(), /60%|closes/);
  },
);

journey("a result names what was lost before the payout", async (t, browser) => {
  const { marketId, maker } = await makeOffered(service, "Will the rain stop?");
  const { page, userId } = await arrive(browser, service);
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const order = async (of: string, body: object) =>
    call("POST", "/api/v1/orders", { key: of, body: { marketId, side: "yes", ...body } });
  await order(key, { price: 60, quantity: 10 });
  await order(maker.key, { price: 50, quantity: 4 });
  await order(key, { price: 50, quantity: 4, orderType: "sell" });
  await operate("resolve_market", { market_id: marketId, outcome: "no" });
  // Bought at 60 with 17 cents of fees, sold at 50 with 7: 4 shares lose 40, 7 and 7 of the 17.
  for (const path of ["/portfolio", `/markets/${marketId}`]) {
    await page.goto(path);
    const earlier = page.getByText(/of it before the payout/);
    await earlier.waitFor();
    t.regex((await earlier.textContent()) ?? "", /-€0\.54 of it before the payout/, path);
  }
});

journey("a paused market says so, also to a page that was open before", async (t, browser) => {
  const marketId = await makeMarket({ title: "Will the wind turn?" });
  const { page, userId } = await arrive(browser, service);
  const noticed = page.getByRole("heading", { name: "Trading is paused" });
  // Nothing is asked for every few seconds.
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 21, 4);
  await previewed(page);
  await operate("set_market_status", { market_id: marketId, status: "paused" });
  await buyButton(page).click();
  await noticed.waitFor();

  await operate("set_market_status", { market_id: marketId, status: "open" });
  await page.reload();
  await buy(page, 20, 3);
  await page.getByText("waits in the book for 3 shares").waitFor();
  // With an order, the user's stream says it: the book stays as it is.
  await operate("set_market_status", { market_id: marketId, status: "paused" });
  await noticed.waitFor();
  await operate("set_market_status", { market_id: marketId, status: "open" });
  await buyButton(page).waitFor();
  await operate("set_market_status", { market_id: marketId, status: "paused" });
  await noticed.waitFor();

  await page.reload();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel: Buy 3 YES at 20¢" }).click();
  await page.getByText("No open orders in this market").waitFor();

  await operate("set_market_status", { market_id: marketId, status: "open" });
  await page.reload();
  await buyButton(page).waitFor();
  t.deepEqual(await statusesOf(service, userId), ["cancelled"], "the order at 21 was not placed");
});

journey("a pause of the whole exchange is seen on every page", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will the wind drop?");
  const { page, userId, complaints } = await arrive(browser, service);
  let reads = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/v1/exchange") reads++;
  });
  await page.clock.install();
  await page.goto(`/markets/${marketId}`);
  await buyButton(page).waitFor();
  const pause = (isPaused: boolean) =>
    operate("set_trading_pause", {
      ...{ paused: isPaused, reason: isPaused ? "Maintenance until 10:00" : null },
    });
  await pause(true);
  // The preview of an order hears of it first.
  await fillTicket(page, 60, 5);
  const banner = page.getByText("Trading is paused on the whole exchange: Maintenance until 10:00");
  await banner.waitFor();
  t.true(await page.getByRole("button", { name: "Trading is paused" }).isDisabled());
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Help" }).first().click();
  await banner.waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Trading is paused" }).waitFor();

  await pause(false);
  await page.clock.runFor(5000);
  await buyButton(page).waitFor();
  t.is(await page.getByText("Trading is paused").count(), 0);
  const readsBefore = reads;
  await page.clock.runFor(40_000);
  t.is(reads, readsBefore, "no more than each minute while the exchange trades");
  await buy(page, 60, 5);
  await page.getByText("5 shares traded").waitFor();
  t.deepEqual(await statusesOf(service, userId), ["filled"]);
  t.deepEqual(complaints, []);
});

journey("a preview that has figures ends the pause of its ticket", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will the wind turn?");
  const { page } = await arrive(browser, service);
  // Nothing is asked by and by.
  await page.addInitScript("window.setInterval = () => 0");
  await operate("set_trading_pause", { paused: true, reason: null });
  await page.goto(`/markets/${marketId}`);
  const paused = page.getByRole("button", { name: "Trading is paused" });
  await paused.waitFor();
  await operate("set_trading_pause", { paused: false, reason: null });
  await fillTicket(page, 60, 5);
  await previewed(page);
  await buyButton(page).waitFor();

  await operate("set_trading_pause", { paused: true, reason: null });
  await fillTicket(page, 60, 6);
  await paused.waitFor();
  await operate("set_trading_pause", { paused: false, reason: null });
  // More than the user can pay: whether the exchange is paused is looked for before.
  await fillTicket(page, 60, 9999);
  await page.locator(".field-error").getByText("in cash").waitFor();
  await buyButton(page).waitFor();
  t.is(await paused.count(), 0);
});

journey("a category has its name on the pages of its markets and events", async (t, browser) => {
  await operate("create_category", { slug: "world-eu", name: "World & EU" });
  const about = { title: "The summit", category: "world-eu" };
  const event_id = await operate("create_event", about);
  const market = { ...about, title: "Will they agree?", event_id };
  const marketId = await operate("create_market", market);
  const { page } = await visit(browser, service.url);
  for (const path of [`/markets/${marketId}`, `/events/${event_id}`]) {
    await page.goto(path);
    const link = page.getByRole("main").getByRole("link", { name: "World & EU", exact: true });
    await link.waitFor();
    t.is(await link.getAttribute("href"), "/?category=world-eu");
    t.is(await link.innerText(), "World & EU");
  }
});

journey("a guest sees at once that a market is paused, and that it goes on", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will the fog lift?");
  const { page, complaints } = await visit(browser, service.url);
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await page.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();
  const noticed = page.getByRole("heading", { name: "Trading is paused" });
  for (let turn = 0; turn < 2; turn++) {
    await operate("set_market_status", { market_id: marketId, status: "paused" });
    await noticed.waitFor();
    await operate("set_market_status", { market_id: marketId, status: "open" });
    await noticed.waitFor({ state: "detached" });
  }
  t.deepEqual(complaints, []);
});

journey("a payout is seen at once, also when the book was empty before", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will the ice melt?");
  const { page } = await arrive(browser, service);
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await buy(page, 60, 100);
  await page.getByText("YES · 100 shares").waitFor();
  await page.getByRole("button", { name: /an offer to sell YES/ }).waitFor({ state: "detached" });
  // After a trade the page reads the market once more, which would show it as well: not after a load.
  const stream = page.waitForResponse((response) => response.url().includes("/api/stream/user"));
  await page.reload();
  await stream;
  await page.getByText("YES · 100 shares").waitFor();
  await operate("resolve_market", { market_id: marketId, outcome: "yes" });
  await page.getByRole("heading", { name: "Resolved: YES" }).waitFor();
  // 1,000.00 less 100 x 60 cents and 1.68 of fee (7 % of 100 x 60 x 40 / 100), and 100.00.
  await page.locator(".cash").getByText("€1,038.32").waitFor();
  t.is(await buyButton(page).count(), 0);
});

journey("a closed market waits for its outcome, and its orders are gone", async (t, browser) => {
  const marketId = await makeMarket({ title: "Will the tide rise?" });
  const { page, userId } = await arrive(browser, service);
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await buy(page, 20, 3);
  await page.getByRole("button", { name: "Cancel: Buy 3 YES at 20¢" }).waitFor();
  await operate("set_market_status", { market_id: marketId, status: "closed" });
  await page.getByRole("heading", { name: "Closed", exact: true }).waitFor();
  await page.getByText("No open orders in this market").waitFor();
  t.deepEqual(await statusesOf(service, userId), ["cancelled"]);
});

journey("an event lists its markets, and leads to them and back", async (t, browser) => {
  const event = { title: "A week of weather", category: "tests", description: "Seven days." };
  const event_id = await operate("create_event", event);
  const titles = ["Will Monday be dry?", "Will Tuesday be dry?"];
  for (const title of titles)
    await operate("create_market", { title, category: "tests", event_id });
  const { page, complaints } = await visit(browser, service.url);
  await page.goto(`/events/${event_id}`);
  await page.getByRole("heading", { name: "A week of weather" }).waitFor();
  const linkOf = (name: string) => page.getByRole("link", { name, exact: true });
  for (const title of titles) await linkOf(title).waitFor();
  await linkOf(titles[1]!).click();
  await page.getByRole("heading", { name: titles[1]! }).waitFor();
  await page.getByRole("link", { name: "A week of weather" }).click();
  await page.getByText("Seven days.").waitFor();
  t.deepEqual(complaints, []);
});

journey(
  "an event has its outcomes by chance, and leads to the ticket of a side",
  async (t, browser) => {
    const event = { title: "Who wins the cup?", category: "tests", exclusive: true };
    const event_id = await operate("create_event", event);
    const make = (outcome_name: string) =>
      operate("create_market", {
        ...{ title: `Will ${outcome_name} win?`, category: "tests", event_id, outcome_name },
      });
    const [ann, bob] = [await make("Ann"), await make("Bob")];
    const maker = await service.makeTrader();
    for (const [marketId, side, price] of [
      [ann, "yes", 20],
      [ann, "no", 76],
      [bob, "yes", 70],
      [bob, "no", 26],
    ] as const) {
      const body = { marketId, side, price, quantity: 5 };
      const placed = await service.call("POST", "/api/v1/orders", { key: maker.key, body });
      t.is(placed.status, 201);
    }
    const { page, complaints } = await visit(browser, service.url);
    await page.setViewportSize({ width: 375, height: 700 });
    await page.goto(`/events/${event_id}`);
    await page.getByText("Exactly one of them resolves YES.").waitFor();
    await page.getByText("Chances add up to 94%").waitFor();
    t.deepEqual(await page.locator(".outcome-name a").allInnerTexts(), ["Bob", "Ann"]);
    const sides = page.locator(".outcome-sides a");
    const names = ["Yes 74¢ for Bob", "No 30¢ for Bob", "Yes 24¢ for Ann", "No 80¢ for Ann"];
    for (const name of names) t.is(await page.getByRole("link", { name }).count(), 1, name);
    for (const link of await sides.all()) t.true((await link.boundingBox())!.height >= 24);
    t.true(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
    await sides.nth(3).click();
    await page.getByRole("heading", { name: "Will Ann win?" }).waitFor();
    await page.getByRole("radio", { name: /^No/i }).first().waitFor();
    t.true(await page.getByRole("radio", { name: /^No/i }).first().isChecked());

    await operate("resolve_market", { market_id: ann, outcome: "no" });
    await page.goto(`/events/${event_id}`);
    const chances = page.locator(".row-chance-number");
    await chances.first().waitFor();
    t.deepEqual(await chances.allTextContents(), ["72% chance", ""], "a screen reader hears these");

    await operate("resolve_market", { market_id: bob, outcome: "yes" });
    await page.reload();
    await page.getByText("Bob won", { exact: true }).waitFor();
    const outcomes = page.locator(".outcome-name a");
    t.deepEqual(await outcomes.allTextContents(), ["Bob", "Ann"], "the winner is the first");
    t.is(await page.getByText(/Exactly one|add up/).count(), 0);
    t.deepEqual(complaints, []);
  },
);
