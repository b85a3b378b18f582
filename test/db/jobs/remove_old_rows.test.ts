import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { clock, makeMarket, makeTrader, place, placeBatch, work } = exchange;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.serial.beforeEach(() => clock.freeze("2030-01-01T12:00:00Z"));

test.serial("keys are removed when they no longer count, and not before", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  const requests = [1, 2, 3].map((price) => buy("no", 1, price, { idempotencyKey: randomUUID() }));
  await place(market, ann, requests[0]!);
  await clock.advance(HOUR);
  await place(market, ann, requests[1]!);
  await clock.advance(23 * HOUR - 1);
  await place(market, ann, requests[2]!);
  t.is(await work("remove_keys"), 0);
  t.true((await placeBatch(market, [[ann, requests[0]!]]))[0]!.replayed);
  await clock.advance(1);
  t.is(await work("remove_keys", { most: 1 }), 1);
  t.false((await placeBatch(market, [[ann, requests[0]!]]))[0]!.replayed);
  t.true((await placeBatch(market, [[ann, requests[1]!]]))[0]!.replayed);
  await clock.advance(24 * HOUR);
  t.is(await work("remove_keys", { most: 2 }), 3);
});

test.serial("a locked key is passed over", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  for (const price of [1, 2]) {
    await place(market, ann, buy("no", 1, price, { idempotencyKey: randomUUID() }));
  }
  await clock.advance(24 * HOUR);
  await exchange.withRollback(async (client) => {
    await client.query("select from trading.idempotency_keys limit 1 for update");
    t.is(await work("remove_keys"), 1);
  });
  t.is(await work("remove_keys"), 1);
});

test.serial("events are removed five minutes after they were sent", async (t) => {
  await exchange.database.pool.query(
    `insert into trading.sent_events (id, kind, payload, sent_at)
     values
       (1, 'user_event', '{}', core.now()), (2, 'user_event', '{}', core.now()),
       (3, 'user_event', '{}', core.now() + interval '1 millisecond')`,
  );
  await clock.advance(5 * MINUTE - 1);
  t.is(await work("remove_sent_events"), 0);
  await clock.advance(1);
  t.is(await work("remove_sent_events", { most: 1 }), 2);
  await clock.advance(1);
  t.is(await work("remove_sent_events"), 1);
});

test.serial("sessions are removed once they have expired", async (t) => {
  const ann = await makeTrader();
  await exchange.operate("create_session", { user_id: ann, valid_for: "1 hour" });
  await exchange.operate("create_session", { user_id: ann, valid_for: "2 hours" });
  await clock.advance(HOUR - 1);
  t.is(await work("remove_sessions"), 0);
  await clock.advance(1);
  t.is(await work("remove_sessions"), 1);
  await clock.advance(HOUR);
  t.is(await work("remove_sessions"), 1);
});

test.serial("challenges of passkeys are removed once they have expired", async (t) => {
  const ask = () => exchange.api.query("select api.start_passkey_sign_in()");
  await ask();
  await clock.advance(1);
  await ask();
  await clock.advance(5 * MINUTE - 2);
  t.is(await work("remove_mails"), 0);
  await clock.advance(1);
  t.is(await work("remove_mails", { most: 1 }), 1);
  await clock.advance(1);
  t.is(await work("remove_mails"), 1);
});
