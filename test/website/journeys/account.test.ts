import test from "ava";
import type { Pool } from "pg";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { openBrowser } from "../browser.ts";

/** Keys, live markets and self-exclusion, in a real browser. */

const service = testService(test, { website: true });
const { call, operate } = service;

let worker: Pool;
test.serial.before("open sign-up", async () => {
  worker = service.database.connectAs("exchange_worker");
  await operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
});

test.serial("a key is shown once, works, and ends when it is revoked", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { page, userId } = await arrive(browser, service, worker);
  await page.goto("/account");
  await page.getByLabel("Name of the new key").fill("my bot");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("code.key").innerText();
  t.is((await call("GET", "/api/v1/me", { key })).body.id, userId);

  await page.reload();
  await page.getByText("my bot").waitFor();
  t.false((await page.content()).includes(key));
  await page.getByRole("button", { name: "Revoke my bot" }).click();
  await page.getByRole("button", { name: "Revoke for good" }).click();
  await page.getByText("No keys yet").waitFor();
  t.is((await call("GET", "/api/v1/me", { key })).status, 401);
});

test.serial("an order on a live market counts down, and is cancelled before", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const event_id = await operate("create_event", {
    ...{ title: "A match", category: "tests", live: true, live_delay_ms: 60_000 },
  });
  const market = { title: "Will they score?", category: "tests", event_id };
  const marketId = await operate("create_market", market);
  const { page } = await arrive(browser, service, worker);
  await page.goto(`/markets/${marketId}`);
  await page.getByLabel("Price", { exact: true }).fill("30");
  await page.getByLabel("Shares", { exact: true }).fill("3");
  await page.getByRole("button", { name: "Buy YES", exact: true }).click();
  await page.getByText(/Released in \d+\.\d s/).waitFor();
  await page.getByRole("button", { name: "Cancel: Buy 3 YES at 30¢" }).click();
  await page.getByText("No open orders in this market").waitFor();
  t.pass();
});

test.serial("a session that is ended elsewhere signs the page out by itself", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { page, userId } = await arrive(browser, service, worker);
  await page.getByRole("heading", { name: "Positions" }).waitFor();
  await operate("end_sessions", { user_id: userId });
  await page.getByText("Sign in to see this page").waitFor();
  t.pass();
});

test.serial("self-exclusion is typed to be confirmed, and ends trading at once", async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const marketId = await service.makeMarket({ title: "Will it end?" });
  const { page } = await arrive(browser, service, worker);
  await page.goto("/account#exclusion");
  const button = page.getByRole("button", { name: "Exclude me for 7 days" });
  t.true(await button.isDisabled());
  await page.getByLabel(/to confirm/).fill("exclude me");
  await button.click();
  await page.getByText("You excluded yourself from trading until").waitFor();

  await page.goto(`/markets/${marketId}`);
  await page.getByLabel("Price", { exact: true }).fill("30");
  await page.getByLabel("Shares", { exact: true }).fill("3");
  await page.getByText("You can still see and cancel what you have").waitFor();
});
