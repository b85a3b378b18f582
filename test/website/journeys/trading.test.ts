import test from "ava";
import type { Pool } from "pg";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { anybody, takeMails } from "../../helpers/http/visitor.ts";
import { arrive } from "../arrive.ts";
import { openBrowser, visit } from "../browser.ts";

/** What people do on the website, from signing up to a trade, in a real browser. */

const service = testService(test, { website: true });
const { call, makeMarket, makeTrader, operate } = service;

let worker: Pool;
test.serial.before("open sign-up", async () => {
  worker = service.database.connectAs("exchange_worker");
  await operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
});

/** A market where somebody sells 100 YES at 60. */
async function makeOffered(title: string): Promise<string> {
  const marketId = await makeMarket({ title });
  const { key } = await makeTrader();
  const body = { marketId, side: "no", price: 40, quantity: 100 };
  await call("POST", "/api/v1/orders", { key, body });
  return marketId;
}

async function fillTicket(page: Page, price: number, quantity: number): Promise<void> {
  await page.getByLabel("Price", { exact: true }).fill(String(price));
  await page.getByLabel("Shares", { exact: true }).fill(String(quantity));
}

const buy = (page: Page) => page.getByRole("button", { name: "Buy YES", exact: true });

test.serial("somebody signs up, confirms, sets limits and trades", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const marketId = await makeOffered("Will it snow?");
  const person = anybody();
  const { page, complaints } = await visit(browser, service.url);
  await page.goto("/sign-up");
  await page.getByText("€1,000.00 of play money").waitFor();
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Name", { exact: true }).fill(person.displayName);
  await page.getByLabel("Handle").fill(person.handle);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Make my account" }).click();
  await page.getByRole("heading", { name: "Account" }).waitFor();

  const mails = await takeMails(worker);
  const token = mails.find(({ to }) => to === person.email)?.token;
  await page.goto(`/confirm#${token}`);
  await page.getByText("is confirmed").waitFor();

  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 5);
  await page.getByText("Before your first order").waitFor();
  await page.getByRole("link", { name: "Review your limits" }).click();
  await page.getByLabel("A day").fill("50");
  await page.getByRole("button", { name: "Confirm my limits" }).click();
  await page.getByText("Your limits are saved").waitFor();

  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 5);
  await page.getByText("If YES is right, pays").waitFor();
  await buy(page).click();
  await page.getByText("5 shares traded").waitFor();
  // 5 x 60 cents, and 7% of 5 x 0.60 x 0.40 = 8.4 cents of fee, rounded up.
  await page.getByText("€996.91").first().waitFor();
  await page.getByText("YES · 5 shares").waitFor();
  t.deepEqual(complaints, []);
});

test.serial("another browser sees the fill by its stream", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const marketId = await makeMarket({ title: "Will it hail?" });
  const { page } = await arrive(browser, service, worker);
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 45, 10);
  await buy(page).click();
  await page.getByText("waits in the book for 10 shares").waitFor();
  await page.getByText("0 of 10 filled").waitFor();

  const { key } = await makeTrader();
  const body = { marketId, side: "no", price: 55, quantity: 4 };
  const seen = page.getByText("4 of 10 filled").waitFor();
  await call("POST", "/api/v1/orders", { key, body });
  const answeredAt = performance.now();
  await seen;
  const took = performance.now() - answeredAt;
  // Its next look by itself comes 10 seconds after the last one.
  t.log(`seen after ${Math.round(took)} ms`);
  t.true(took < 5000);
  await page.getByText("YES · 4 shares").waitFor();
});

test.serial("an order whose answer is lost is placed once", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const marketId = await makeOffered("Will it rain frogs?");
  const { page, userId } = await arrive(browser, service, worker);
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 7);
  let lost = 0;
  await page.route("**/api/v1/orders", async (route) => {
    if (lost++ > 1) {
      await route.continue();
      return;
    }
    // The server carries it out, and the browser never hears of it.
    await route.fetch();
    await route.abort();
  });
  await buy(page).click();
  await page.getByText("7 shares traded").waitFor();
  t.is(lost, 3);
  const { rows } = await service.database.pool.query(
    `select sum(p.quantity)::int as held
     from trading.positions as p join identity.users as u on u.id = p.user_id
     where u.public_id = $1`,
    [userId],
  );
  t.is(rows[0].held, 7);
});

test.serial("an order that a reload cut off is finished with the key that it had", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const marketId = await makeOffered("Will it rain cats?");
  const { page } = await arrive(browser, service, worker);
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
  await buy(page).click();
  await page.getByText("Sending…").waitFor();
  while (keys.length === 0) await page.waitForTimeout(20);
  await page.waitForTimeout(300);
  await page.reload();
  await page.getByRole("button", { name: "Send it again" }).click();
  await page.getByText("is placed, once").waitFor();
  t.is(keys.length, 2);
  t.is(keys[0], keys[1]);
  await page.getByText("YES · 7 shares").waitFor();
});

test.serial("a lost connection is said, and made good when it is back", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const marketId = await makeOffered("Will it thaw?");
  const { page } = await arrive(browser, service, worker);
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
  t.pass();
});
