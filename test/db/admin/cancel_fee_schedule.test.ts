import test from "ava";
import { inTransaction } from "../../helpers/exchange/held_locks.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.cancel_fee_schedule: a fee that is planned is withdrawn before it is in force. */

const exchange = testExchange(test, { sessions: 3 });
const { balance, clock, makeMarket, makeTraders, operate, place, rest } = exchange;

const NOON = "2040-01-01T12:00:00.000Z";
const ONE = "2040-01-01T13:00:00.000Z";
const stays = (message: RegExp) => ({ code: "EX019", message });

const plan = (values: object): Promise<string> =>
  operate("set_fee_schedule", { effective_from: ONE, ...values });
const cancel = (schedule_id: string) => operate("cancel_fee_schedule", { schedule_id });

/** What the fee of 10 shares at 50 cents is now. */
async function feeIn(market: string): Promise<number> {
  const [ann, bob] = await makeTraders(2);
  await rest(market, ann, buy("no", 10, 50));
  const before = await balance(bob);
  await place(market, bob, buy("yes", 10, 50));
  return before - (await balance(bob)) - 500;
}

test.serial.beforeEach(() => clock.freeze(NOON));

test.serial("a fee that was withdrawn is never in force, in each scope", async (t) => {
  await operate("create_category", { slug: "withdrawn", name: "Withdrawn" });
  const category = "withdrawn";
  const market_id = await makeMarket({ category });
  const own = await plan({ taker_rate_bps: 10_000, market_id });
  const ofCategory = await plan({ taker_rate_bps: 5000, category });
  const byDefault = await plan({ taker_rate_bps: 2000 });
  await cancel(own);
  await clock.advance(3_599_999);
  t.is(await feeIn(market_id), 18, "7 % of 250 cents, rounded up");
  await cancel(byDefault);
  await clock.advance(1);
  t.is(await feeIn(market_id), 125, "of the category");
  t.is(await feeIn(await makeMarket()), 18, "of the default before");
  const rows = async (schema: string) =>
    await exchange.query(
      `select fee_schedule_key::text as key, cancelled_at
         from ${schema}.fee_schedules where fee_schedule_key = any ($1) order by 1::bigint`,
      [[own, ofCategory, byDefault]],
    );
  for (const schema of ["admin", "analytics"]) {
    const shown = await rows(schema);
    t.deepEqual(
      [own, ofCategory, byDefault].map(
        (key) => shown.find((row) => Number(row.key) === Number(key)).cancelled_at !== null,
      ),
      [true, false, true],
    );
  }
  t.deepEqual(await exchange.verify(), []);
});

test.serial("INVALID_STATE: a fee in force, the first one, or one that is withdrawn", async (t) => {
  const market_id = await makeMarket();
  const planned = await plan({ taker_rate_bps: 100, market_id });
  await cancel(planned);
  await t.throwsAsync(cancel(planned), stays(/withdrawn already/));
  const held = await plan({ taker_rate_bps: 100, market_id });
  await clock.freeze(ONE);
  await t.throwsAsync(cancel(held), stays(/in force since/));
  t.is(await feeIn(market_id), 3, "1 % of 250 cents, rounded up");
  const rows = await exchange.query("select min(id)::text as id from trading.fee_schedules");
  await t.throwsAsync(cancel(rows[0].id), stays(/in force/));
  await t.throwsAsync(cancel("999999"), { code: "EX017" });
});

test.serial("two who withdraw one at once: one does, and the other is told", async (t) => {
  const planned = await plan({ taker_rate_bps: 100 });
  const done = await Promise.allSettled([cancel(planned), cancel(planned)]);
  t.deepEqual(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test.serial("a change of fees is committed within 50 seconds, or changes nothing", async (t) => {
  const market_id = await makeMarket();
  const planned = await plan({ taker_rate_bps: 100, market_id });
  const late = { code: "EX019", message: /within 50 seconds/ };
  const make = (change: string, heldForMs: number) =>
    inTransaction(exchange, "commit", async (client) => {
      await client.query(`select admin.${change}`);
      await clock.advance(heldForMs);
      t.is(await feeIn(market_id), 18, "7 % of 250 cents, rounded up");
    });
  const set = `set_fee_schedule(taker_rate_bps => 5000, market_id => '${market_id}')`;
  const withdraw = `cancel_fee_schedule(${planned})`;
  for (const change of [set, withdraw]) await t.throwsAsync(make(change, 50_001), late);
  t.deepEqual(await exchange.verify(), []);
  await make(withdraw, 50_000);
  await make(set, 50_000);
  t.is(await feeIn(market_id), 125, "50 %");
  t.deepEqual(await exchange.verify(), []);
});
