import { makeDispute } from "../../../helpers/exchange/disputes.ts";
import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
import { buy } from "../../../helpers/exchange/orders.ts";
import type { Named } from "./history.ts";

/** What operators do besides markets that trade: one call and more of each that leaves something. */

const DAY_MS = 86_400_000;

export async function operateALittle(exchange: Exchange): Promise<Named> {
  const {
    balance,
    clock,
    database,
    makeMarket,
    makeMarketWith,
    makeTraders,
    operate,
    place,
    rest,
  } = exchange;

  // Markets and an event that were changed; one is paused, one closed by an operator.
  const event_id = await operate("create_event", { title: "A cup", category: "tests" });
  await operate("edit_event", { event_id, title: "The cup", description: "Of all." });
  await operate("set_event_live", { event_id, live: true, live_delay_ms: 1000 });
  const close_time = new Date(Date.now() + 300 * DAY_MS).toISOString();
  const edited = await makeMarket({ event_id, close_time });
  await operate("edit_market", { market_id: edited, title: "Will it snow?" });
  await operate("set_market_status", { market_id: edited, status: "paused" });
  const exclusive = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const won = await makeMarket({ event_id: exclusive, outcome_name: "won" });
  const lost = await makeMarket({ event_id: exclusive, outcome_name: "lost" });
  await operate("resolve_market", { market_id: won, outcome: "yes" });
  await operate("resolve_market", { market_id: lost, outcome: "no" });
  const reopened = await makeMarket({ close_time });
  await operate("set_market_status", { market_id: reopened, status: "closed" });
  await operate("set_market_status", { market_id: reopened, status: "open" });
  await operate("set_market_source", {
    ...{ market_id: edited, rules: "As the office says.", source_url: "https://office.example/" },
  });
  const answered = await makeDispute(exchange);
  await operate("answer_dispute", { dispute_id: answered, answer: "The station says so." });
  await makeDispute(exchange);
  const closed = await makeMarket();
  await operate("set_market_status", { market_id: closed, status: "closed" });

  // Accounts: frozen and thawed ones, an excluded one, limits, and orders that were cancelled.
  const [eva, fay, gus] = await makeTraders(3);
  await operate("set_loss_limits", {
    ...{ user_id: eva, day_cents: 7000, week_cents: null, month_cents: null },
  });
  await operate("freeze_user", { user_id: eva, reason: "stolen" });
  await operate("freeze_user", { user_id: fay, reason: "a mistake" });
  await operate("unfreeze_user", { user_id: fay, reason: "a mistake" });
  await operate("self_exclude", { user_id: gus, until: close_time });
  const [order] = await rest(reopened, fay, buy("no", 1, 10));
  await operate("cancel_orders", { user_id: fay });

  // Keys: one in force, one that was rotated, one that was revoked.
  await operate("create_api_key", { user_id: fay, name: "in force", expires_at: close_time });
  await operate("create_api_key", { user_id: fay, name: "rotated" });
  await operate("create_api_key", { user_id: fay, name: "revoked" });
  const keyOf = async (name: string) =>
    (await database.pool.query("select public_id from identity.api_keys where name = $1", [name]))
      .rows[0].public_id;
  await operate("rotate_api_key", { key_id: await keyOf("rotated"), overlap: "1 day" });
  await operate("revoke_api_key", { key_id: await keyOf("revoked") });
  await operate("create_staff_key", { name: "Ada", role: "analyst" });
  await operate("create_staff_key", { name: "Bob", role: "operator" });
  const { rows: staff } = await database.pool.query(
    "select public_id from identity.staff_keys where name = 'Bob'",
  );
  await operate("revoke_staff_key", { key_id: staff[0].public_id });
  for (const name of ["Cleo", "Dan"]) {
    const email = `${name}@staff.example`;
    const staff_id = await operate("create_staff", { email, name, roles: ["cash"] });
    if (name === "Cleo") await operate("set_staff_roles", { staff_id, roles: ["audit", "users"] });
    else await operate("remove_staff", { staff_id });
  }

  // Settings, and a sign-up that gets play money.
  await operate("set_sign_up", { policy: "open", play_money_cents: 500 });
  await database.pool.query(
    `select api.sign_up(
       email => 'hal@test.example', display_name => 'Hal', handle => 'hal',
       password_hash => '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g'
     )`,
  );
  await operate("set_minimum_age", { years: 18, reason: "a test" });
  await operate("set_minimum_age", { years: 0, reason: "over" });
  await operate("set_dispute_window", { hours: 48, reason: "a test" });
  await operate("set_trading_pause", { paused: true, reason: "a test" });
  await operate("set_trading_pause", { paused: false, reason: "over" });
  await operate("set_rate_limit", { bucket: "v1", max_requests: 61, window_seconds: 60 });
  await operate("set_stream_cap", { holder: "user", max_streams: 21 });
  await operate("set_cash_cap", {
    kind: "bonus",
    per_call_cents: null,
    per_day_cents: 100_000_000,
  });
  const schedule_id = await operate("set_fee_schedule", {
    ...{ taker_rate_bps: 1, effective_from: close_time },
  });
  await operate("cancel_fee_schedule", { schedule_id });
  await operate("set_rate_policy", { user_id: fay, tier: "elevated" });

  // Candles of two hours, of which the last trades have none yet; what an earlier check found.
  const [charted, ian, joe] = await makeMarketWith(2);
  for (const price of [50, 40, 60]) {
    await rest(charted, ian, buy("no", 2, 100 - price));
    await place(charted, joe, buy("yes", 2, price));
    await clock.advance(40 * 60_000);
  }
  await exchange.work("make_candles");
  await rest(charted, ian, buy("no", 2, 45));
  await place(charted, joe, buy("yes", 2, 55));
  await database.pool.query(
    `insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
     values (core.now(), core.now(), 1, '[{"name": "a", "object": "b"}]')`,
  );

  // Two days whose books are closed, the first with a difference.
  const days = [-3, -2].map((ago) =>
    new Date(Date.now() + ago * DAY_MS).toISOString().slice(0, 10),
  );
  const bank = '[{"reference": "unknown", "amount_cents": 5}]';
  await operate("reconcile", { day: days[0], bank });
  await operate("close_day", { day: days[0], reason: "the bank looks for it" });
  await operate("reconcile", { day: days[1], bank: "[]" });
  await operate("close_day", { day: days[1] });
  // A proof of balances, of which one user owes cash; then money moves on.
  await operate("deposit", { user_id: fay, amount_cents: 50, reference: "charged" });
  await operate("withdraw", { user_id: fay, amount_cents: await balance(fay), reference: "all" });
  await operate("reverse_deposit", { reference: "charged", reason: "charged back" });
  await operate("publish_proof");
  await operate("deposit", { user_id: fay, amount_cents: 51, reference: "later" });
  const { rows } = await database.pool.query(
    `select
       (select id from identity.users where public_id = $1) as eva,
       (select id from identity.users where public_id = $2) as fay,
       (select id from identity.users where public_id = $3) as gus,
       (select id from identity.users where handle ~ '^new-') as hal,
       (select id from catalog.markets where public_id = $4) as edited,
       (select id from catalog.markets where public_id = $5) as closed,
       (select id from catalog.markets where public_id = $6) as charted,
       (select id from catalog.markets where public_id = $7) as reopened,
       (select id from trading.orders where public_id = $8) as cancelled_by_operator`,
    [eva, fay, gus, edited, closed, charted, reopened, order],
  );
  return rows[0];
}
