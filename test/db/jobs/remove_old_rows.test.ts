import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { relayAll } from "../../helpers/exchange/user_events.ts";

const exchange = testExchange(test);
const { clock, makeMarketWith, makeTrader, place, placeBatch, work } = exchange;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.serial.beforeEach(() => clock.freeze("2030-01-01T12:00:00Z"));

test.serial("keys are removed when they no longer count, and not before", async (t) => {
  const [market, ann] = await makeMarketWith(1);
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
  const [market, ann] = await makeMarketWith(1);
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

test.serial("events are dropped by the day, when all of it is older than 25 hours", async (t) => {
  const api = exchange.api;
  const days = async () =>
    (
      await exchange.database.pool.query(
        `select distinct (sent_at at time zone 'UTC')::date::text as day
         from trading.sent_events where sent_at > '2031-01-01' order by day`,
      )
    ).rows.map(({ day }) => day);
  await clock.freeze("2031-03-01T23:59:00Z");
  await relayAll(api);
  await clock.freeze("2031-03-02T00:00:00Z");
  await work("make_event_partitions");
  await clock.freeze("2031-03-02T01:30:00Z");
  await relayAll(api);
  await work("remove_sent_events");
  t.deepEqual(await days(), ["2031-03-01", "2031-03-02"], "each has a tick at least");
  await clock.freeze("2031-03-03T00:59:59.999Z");
  t.is(await work("remove_sent_events"), 0);
  await clock.freeze("2031-03-03T01:00:00Z");
  t.is(await work("remove_sent_events"), 1);
  t.deepEqual(await days(), ["2031-03-02"]);
});

test.serial("partitions of events are made for three days", async (t) => {
  await clock.freeze("2032-02-27T12:00:00Z");
  t.is(await work("make_event_partitions"), 3);
  await clock.advance(86_400_000);
  t.is(await work("make_event_partitions"), 1);
  const { rows } = await exchange.database.pool.query(
    "select relname from pg_class where relname ~ '^sent_events_2032_[0-9_]+$' order by relname",
  );
  t.deepEqual(
    rows.map(({ relname }) => relname.slice(-5)),
    ["02_27", "02_28", "02_29", "03_01"],
  );
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
