import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { anybody, takeMails } from "../../helpers/http/visitor.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { paintedAt } from "../painted.ts";
import {
  buy,
  buyButton,
  fillTicket,
  loseAnswer,
  makeOffered,
  previewed,
  sharesOf,
  statusesOf,
} from "../steps.ts";

/** What people do on the website, from signing up to a trade, in a real browser. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeMarket, makeTrader } = service;

journey("somebody signs up, confirms, sets limits and trades", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it snow?");
  const person = anybody();
  const { page, complaints } = await visit(browser, service.url);
  await page.goto("/sign-up");
  await page.getByText("€1,000.00 of play money").waitFor();
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Make my account" }).click();
  await page.getByRole("heading", { name: "One more step before you can trade" }).waitFor();
  t.is(await page.evaluate("scrollY"), 0, "what is left to do is seen");

  const mails = await takeMails(service.worker);
  const token = mails.find(({ to }) => to === person.email)?.token;
  await page.goto(`/confirm#${token}`);
  await page
    .getByText(/^trader-[0-9a-f]{10}$/)
    .first()
    .waitFor();
  t.is(await page.getByLabel("Password").count(), 0, "the session is enough");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("is confirmed").waitFor();

  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 5);
  await page.getByText("Before your first order").waitFor();
  await page.getByRole("link", { name: "Do it now" }).click();
  await page.getByLabel("A day").fill("50");
  await page.getByRole("button", { name: "Confirm my limits" }).click();

  await page.waitForURL(`/markets/${marketId}`);
  await page.getByText(/^If YES: you win/).waitFor();
  await buyButton(page).click();
  await page.getByText("5 shares traded").waitFor();
  // 5 x 60 cents, and 7% of 5 x 0.60 x 0.40 = 8.4 cents of fee, rounded up.
  await page.getByText("€996.91").first().waitFor();
  await page.getByText("YES · 5 shares").waitFor();
  t.deepEqual(complaints, []);
});

/** What a fill may take from the answer to its taker until another browser has painted it. */
const SEEN_WITHIN_MS = 500;
/** Changes in quick succession are read together; these are not. */
const BETWEEN_FILLS_MS = 500;

journey("another browser sees a fill within half a second, by its stream", async (t, browser) => {
  const marketId = await makeMarket({ title: "Will it hail?" });
  const { page } = await arrive(browser, service);
  // What is shown comes by the stream: nothing is asked for every few seconds.
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await buy(page, 45, 10);
  await page.getByText("waits in the book for 10 shares").waitFor();
  await page.getByText("0 of 10 filled").waitFor();

  const { key } = await makeTrader();
  const took: number[] = [];
  for (let filled = 1; filled <= 7; filled++) {
    const body = { marketId, side: "no", price: 55, quantity: 1 };
    const painted = paintedAt(page, `${filled} of 10 filled`);
    await call("POST", "/api/v1/orders", { key, body });
    const answeredAt = Date.now();
    took.push((await painted) - answeredAt);
    await page.waitForTimeout(BETWEEN_FILLS_MS);
  }
  const median = took.toSorted((a, b) => a - b)[3]!;
  t.log(`median ${Math.round(median)} ms, longest ${Math.round(Math.max(...took))} ms`);
  t.true(median <= SEEN_WITHIN_MS);
  await page.getByText("YES · 7 shares").waitFor();
});

journey("an order whose answer is lost is placed once", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it rain frogs?");
  const { page, userId } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 7);
  let lost = 0;
  await page.route("**/api/v1/orders", async (route) => {
    if (lost++ > 1) {
      await route.continue();
      return;
    }
    await loseAnswer(route);
  });
  await buyButton(page).click();
  await page.getByText("7 shares traded").waitFor();
  t.is(lost, 3);
  t.is(await sharesOf(service, userId), 7);
});

journey(
  "an order that a reload cut off is finished with the key that it had",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it rain cats?");
    const { page } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await fillTicket(page, 60, 7);
    const keys: string[] = [];
    await page.route("**/api/v1/orders", async (route) => {
      keys.push(route.request().postDataJSON().idempotencyKey);
      if (keys.length > 1) {
        await route.continue();
        return;
      }
      await route.fetch();
      // No answer, until the page is left.
    });
    await buyButton(page).click();
    await page.getByText("Sending…").waitFor();
    while (keys.length === 0) await page.waitForTimeout(20);
    await page.waitForTimeout(300);
    await page.reload();
    await page.getByRole("button", { name: "Send it again" }).click();
    await page.getByText("is placed, once").waitFor();
    t.is(keys.length, 2);
    t.is(keys[0], keys[1]);
    await page.getByText("YES · 7 shares").waitFor();
  },
);

journey("a lost connection is said, and made good when it is back", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it thaw?");
  const { page } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await page.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();
  await page.context().setOffline(true);
  await page.getByText("Connection lost").waitFor();
  const { key } = await makeTrader();
  await call("POST", "/api/v1/orders", {
    key,
    body: { marketId, side: "yes", price: 33, quantity: 1 },
  });
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Use 33 cents, an offer to buy YES" }).waitFor();
  await page.getByText("Connection lost").waitFor({ state: "detached" });
  t.is(await page.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).count(), 1);
});

journey(
  "an open order is changed in place, and keeps its place when it gets smaller",
  async (t, browser) => {
    const marketId = await makeMarket({ title: "Will it drizzle?" });
    const { page, userId } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await buy(page, 30, 10);
    await page.getByRole("button", { name: "Change: Buy 10 YES at 30¢" }).click();
    const form = page.locator("form.amend");
    await form.getByLabel("Shares in all").fill("4");
    await form.getByRole("button", { name: "Save the change" }).click();
    await page.getByRole("button", { name: "Change: Buy 4 YES at 30¢" }).waitFor();
    await page.getByText("0 of 4 filled · first in the queue").waitFor();

    // A price that is wrong is said, and nothing is sent.
    await page.getByRole("button", { name: "Change: Buy 4 YES at 30¢" }).click();
    await form.getByLabel("Price").fill("31.5");
    await form.getByText("Give a price from 1 to 99 cents.").waitFor();
    t.true(await form.getByRole("button", { name: "Save the change" }).isDisabled());

    await form.getByLabel("Price").fill("35");
    await form.getByRole("button", { name: "Save the change" }).click();
    await page.getByRole("button", { name: "Change: Buy 4 YES at 35¢" }).waitFor();
    await page.getByRole("button", { name: "Use 35 cents, an offer to buy YES" }).waitFor();
    const { rows } = await service.database.pool.query(
      `select o.price, o.quantity::int as quantity from trading.orders as o
     join identity.users as u on u.id = o.user_id
     where u.public_id = $1 and o.status = 'open'`,
      [userId],
    );
    t.deepEqual(rows, [{ price: 35, quantity: 4 }]);
  },
);

journey("rows of orders follow the answers, however late they are read", async (t, browser) => {
  const marketId = await makeMarket({ title: "Will it thaw?" });
  const { page, userId } = await arrive(browser, service);
  const other = await page.context().newPage();
  for (const [tab, path] of [
    [page, `/markets/${marketId}`],
    [other, "/portfolio"],
  ] as const) {
    await tab.goto(path);
    if (tab === page) await buy(page, 30, 10);
    await tab.getByRole("button", { name: /^Cancel:? Buy/ }).waitFor();
    // As when little is left of the requests that pages may send.
    await tab.route(/\/api\/v1\/orders(\?.*)?$/, () => undefined);
  }
  const form = page.locator("form.amend");
  for (const [from, to] of [
    [30, 35],
    [35, 40],
  ]) {
    await page.getByRole("button", { name: `Change: Buy 10 YES at ${from}¢` }).click();
    await form.getByLabel("Price").fill(String(to));
    await form.getByRole("button", { name: "Save the change" }).click();
    await page.getByRole("button", { name: `Change: Buy 10 YES at ${to}¢` }).waitFor();
    await other.getByRole("cell", { name: `${to}¢` }).waitFor();
  }
  await page.getByText("0 of 10 filled", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Change: Buy 10 YES at 40¢" }).click();
  await form.getByLabel("Shares in all").fill("4");
  await form.getByRole("button", { name: "Save the change" }).click();
  await page.getByRole("button", { name: "Cancel: Buy 4 YES at 40¢" }).click();
  await page.getByText("No open orders in this market").waitFor();
  await other.getByText("No open orders").waitFor();
  t.deepEqual(await statusesOf(service, userId), ["cancelled", "cancelled", "cancelled"]);
});

journey("two tabs agree: an order of one is cancelled in the other", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it freeze?");
  const { page, userId } = await arrive(browser, service);
  const other = await page.context().newPage();
  for (const tab of [page, other]) {
    // What the tabs know of each other does not come from asking every few seconds.
    await tab.addInitScript("window.setInterval = () => 0");
    await tab.goto(`/markets/${marketId}`);
    await tab.getByText("No open orders in this market").waitFor();
  }
  await buy(page, 20, 3);
  await other.getByRole("button", { name: "Cancel: Buy 3 YES at 20¢" }).click();
  for (const tab of [page, other]) await tab.getByText("No open orders in this market").waitFor();

  await buy(other, 60, 5);
  // 1,000.00 less 5 x 60 cents and 9 cents of fee.
  for (const tab of [page, other]) {
    await tab.getByText("YES · 5 shares").waitFor();
    await tab.locator(".cash").getByText("€996.91").waitFor();
  }
  t.deepEqual(await statusesOf(service, userId), ["cancelled", "filled"]);
});

journey("a preview that was refused for a second comes again by itself", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it come again?");
  const { page } = await arrive(browser, service);
  let isRefused = false;
  await page.route("**/api/v1/orders/preview", async (route) => {
    const { price, quantity } = route.request().postDataJSON();
    if (isRefused || price !== 60 || quantity !== 1) {
      await route.continue();
      return;
    }
    isRefused = true;
    const headers = { "Retry-After": "1" };
    await route.fulfill({ status: 429, headers, json: { error: "Too many requests" } });
  });
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 1);
  await page.locator(".ticket").getByText("Too many requests").waitFor();
  await previewed(page);
  t.true(isRefused);
});
