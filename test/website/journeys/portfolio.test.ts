import test from "ava";
import type { Pool } from "pg";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";

/** What the portfolio shows of open orders and of shares. */

const service = testService(test, { website: true });
const { call, makeMarket, operate } = service;

let worker: Pool;
test.serial.before("open sign-up", async () => {
  worker = service.database.connectAs("exchange_worker");
  await operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
});

journey("open orders show their budget, and until when they wait", async (t, browser) => {
  const { page, userId } = await arrive(browser, service, worker);
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
  await row(/Will it snow\? Buy NO 30¢ 0 \/ 5 .+ cancelled/);
  await row(/Will it snow\? Buy NO 31¢ 0 \/ 5 .+ 1 May 2100/);
  await page.setViewportSize({ width: 375, height: 800 });
  await page.getByText(/^Buy NO · until 1 May 2100/).waitFor();
  t.pass();
});
