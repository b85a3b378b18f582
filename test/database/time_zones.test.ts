import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";

/**
 * What an operator or an analyst calls in a session whose time zone has daylight saving. In Berlin
 * it begins at 01:00 UTC of 2028-03-26 and ends at 01:00 UTC of 2028-10-29.
 */

const exchange = testExchange(test);
const { cancel, clock, makeMarketWith, makeTrader, operate, place, rest } = exchange;

const HOUR_MS = 3_600_000;
const zones = ["UTC", "Europe/Berlin", "America/New_York"];

/** Works in a session of each zone, and undoes that. */
async function inEachZone(work: (client: PoolClient, zone: string) => Promise<void>) {
  for (const zone of zones) {
    await exchange.withRollback(async (client) => {
      await client.query(`set local timezone = '${zone}'`);
      await work(client, zone);
    });
  }
}

test.serial("a day that is compared with the bank is a day of UTC", async (t) => {
  await clock.freeze("2028-03-25T12:00:00Z");
  const user_id = await makeTrader({ cents: 0 });
  const deposits = [
    ["2028-03-26T00:00:00Z", 100],
    ["2028-03-26T23:30:00Z", 500],
    ["2028-03-27T00:00:00Z", 700],
    ["2028-10-29T23:30:00Z", 900],
    ["2028-10-30T00:30:00Z", 1100],
  ] as const;
  for (const [at, amount_cents] of deposits) {
    await clock.freeze(at);
    await operate("deposit", { user_id, amount_cents, reference: at });
  }
  await inEachZone(async (client, zone) => {
    for (const day of new Set(deposits.map(([at]) => at.slice(0, 10)))) {
      const bank = deposits
        .filter(([at]) => at.startsWith(day))
        .map(([reference, amount_cents]) => ({ reference, amount_cents }));
      const { rows } = await client.query("select * from admin.reconcile($1, $2)", [
        ...[day, JSON.stringify(bank)],
      ]);
      t.deepEqual(rows, [], `${day}, ${zone}`);
    }
  });
});

test.serial("30 days until an order goes to the archive are 720 hours", async (t) => {
  for (const cancelledAt of ["2028-03-10T12:00:00Z", "2028-10-10T12:00:00Z"]) {
    await clock.freeze(cancelledAt);
    const [market, ann] = await makeMarketWith(1);
    await cancel(ann, (await rest(market, ann, buy("yes", 1, 10)))[0]);
    await clock.advance(720 * HOUR_MS - 1);
    const archived = async (client: PoolClient) =>
      (await client.query("select (admin.run_due() ->> 'archived')::int as count")).rows[0].count;
    await inEachZone(async (client, zone) => void t.is(await archived(client), 0, zone));
    await clock.advance(1);
    await inEachZone(async (client, zone) => void t.is(await archived(client), 1, zone));
    await operate("run_due");
  }
});

test.serial("what is valid for days, and the trades of 7 days, are the same", async (t) => {
  await clock.freeze("2028-03-25T12:00:00Z");
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 1, 50));
  await place(market, bob, buy("yes", 1, 50));
  await clock.freeze("2028-03-25T12:00:01Z");
  await inEachZone(async (client, zone) => {
    const hours = async (table: string) => {
      const { rows } = await client.query(
        `select extract(epoch from max(x.expires_at) - core.now()) / 3600 as hours from ${table} x`,
      );
      return Number(rows[0].hours);
    };
    await client.query("select admin.create_session($1)", [ann]);
    t.is(await hours("identity.sessions"), 30 * 24, zone);
    await client.query("select admin.invite_user('guest@example.com')");
    t.is(await hours("identity.links"), 14 * 24, zone);
    await client.query("select admin.create_api_key($1, 'bot')", [ann]);
    await client.query(
      `select admin.rotate_api_key(k.id, interval '7 days') from admin.list_api_keys($1) as k`,
      [ann],
    );
    t.is(await hours("identity.api_keys"), 7 * 24, zone);
  });
  const recent = async (client: PoolClient) =>
    (await client.query("select count(*)::int from admin.recent_trades")).rows[0].count;
  await clock.freeze("2028-04-01T12:00:00Z");
  await inEachZone(async (client, zone) => void t.is(await recent(client), 1, zone));
  await clock.advance(1);
  await inEachZone(async (client, zone) => void t.is(await recent(client), 0, zone));
});
