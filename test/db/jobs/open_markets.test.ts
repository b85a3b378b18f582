import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** Markets that open at a time: by the job and by admin.run_due. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTrader, market, operate, refusal, rest, work } = exchange;

const NOON = "2030-01-01T12:00:00Z";
const OPEN = "2030-01-01T12:01:00Z";
const CLOSE = "2030-01-01T12:02:00Z";
const invalid = (message: RegExp) => ({ code: "EX001", message });

const draft = (options: object = {}) => makeMarket({ open: false, open_time: OPEN, ...options });
const edit = (market_id: string, values: object) =>
  operate("edit_market", { market_id, ...values });
const setStatus = (market_id: string, status: string) =>
  operate("set_market_status", { market_id, status });
const openInMs = async () =>
  (await exchange.database.pool.query("select open_in_ms from jobs.next_work()")).rows[0]
    .open_in_ms;
const openTime = async (id: string) =>
  (
    await exchange.database.pool.query("select open_time from admin.markets where market_id = $1", [
      id,
    ])
  ).rows[0].open_time?.toISOString() ?? null;

/** The statuses that streams are told. */
const said = async (id: string) =>
  (
    await exchange.database.pool.query(
      `select payload ->> 'status' as status from trading.outbox
       where channel = 'market_status' and payload ->> 'marketId' = $1 order by id`,
      [id],
    )
  ).rows.map(({ status }) => status);

test.serial.beforeEach(() => clock.freeze(NOON));

test.serial("a draft takes no orders before its open time, then it opens once", async (t) => {
  const id = await draft();
  const ann = await makeTrader();
  t.is(await openInMs(), 60_000);
  await clock.advance(59_999);
  t.is(await work("open_markets"), 0);
  t.is(await refusal(id, ann, buy("yes", 1, 40)), "MARKET_NOT_OPEN");
  await clock.advance(1);
  t.is(await work("open_markets"), 1);
  t.is((await market(id)).status, "open");
  t.deepEqual(await said(id), ["open"]);
  await rest(id, ann, buy("yes", 1, 40));

  // A pause afterwards lasts until an operator ends it.
  await setStatus(id, "paused");
  await clock.advance(86_400_000);
  t.is(await work("open_markets"), 0);
  t.is(await openInMs(), null);
  t.is((await market(id)).status, "paused");
});

test.serial("admin.run_due opens what is due, and notes how many", async (t) => {
  const [first, second] = [await draft(), await draft()];
  await clock.advance(60_000);
  await operate("run_due");
  for (const id of [first, second]) t.is((await market(id)).status, "open");
  const opened = async () =>
    (
      await exchange.database.pool.query(
        `select arguments ->> 'opened' as opened from admin.audit_log
         where action = 'run_due' order by id desc limit 1`,
      )
    ).rows[0].opened;
  t.is(await opened(), "2");
  await operate("run_due");
  t.is(await opened(), "0");
});

test.serial(
  "a worker that comes after the close time closes it, and does not open it",
  async (t) => {
    const [byJob, byCall] = [
      await draft({ close_time: CLOSE }),
      await draft({ close_time: CLOSE }),
    ];
    await clock.advance(120_000);
    t.is(await openInMs(), null);
    t.is(await work("open_markets"), 0);
    const closed = await exchange.database.pool.query(
      `select jobs.close_markets(id) from catalog.markets where public_id = $1`,
      [byJob],
    );
    t.is(closed.rowCount, 1);
    await operate("run_due");
    for (const id of [byJob, byCall]) {
      t.is((await market(id)).status, "closed");
      t.is(await openTime(id), null);
    }
  },
);

test.serial("every change of the status by hand takes the open time away", async (t) => {
  for (const status of ["open", "paused", "closed"]) {
    const id = await draft();
    await setStatus(id, status);
    t.is(await openTime(id), null);
    await clock.advance(60_000);
    t.is(await work("open_markets"), 0);
    t.is((await market(id)).status, status);
    await clock.freeze(NOON);
  }
  const resolved = await draft();
  await operate("resolve_market", { market_id: resolved, outcome: "yes" });
  t.is(await openTime(resolved), null);
  const kept = await draft();
  t.is(await openTime(kept), new Date(OPEN).toISOString());
  await operate("void_market", { market_id: kept, reason: "a mistake" });
  t.is(await openTime(kept), null);
});

test.serial("the open time is edited and removed; null leaves it", async (t) => {
  const id = await draft();
  await edit(id, { title: "Another" });
  t.is(await openTime(id), new Date(OPEN).toISOString());
  await edit(id, { open_time: CLOSE });
  t.is(await openTime(id), new Date(CLOSE).toISOString());
  await edit(id, { no_open_time: true });
  t.is(await openTime(id), null);
  await clock.advance(600_000);
  t.is(await work("open_markets"), 0);
});

test.serial("INVALID_REQUEST: an open time that cannot be", async (t) => {
  const past = /must be in the future/;
  const order = /before the close time/;
  const moment = /must be a moment/;
  await t.throwsAsync(draft({ open_time: NOON }), invalid(past));
  await t.throwsAsync(draft({ open_time: "-infinity" }), invalid(past));
  await t.throwsAsync(draft({ open_time: "infinity" }), invalid(moment));
  await t.throwsAsync(draft({ close_time: OPEN }), invalid(order));
  await t.throwsAsync(draft({ open: true }), invalid(/Only a paused market/));
  const id = await draft({ close_time: CLOSE });
  await t.throwsAsync(edit(id, { open_time: CLOSE }), invalid(order));
  await t.throwsAsync(edit(id, { open_time: NOON }), invalid(past));
  await t.throwsAsync(edit(id, { close_time: OPEN }), invalid(order));
  await t.throwsAsync(edit(id, { open_time: OPEN, no_open_time: true }), invalid(/not both/));
  const open = await makeMarket();
  await t.throwsAsync(edit(open, { open_time: OPEN }), invalid(/Only a paused market/));
});

test.serial("admin.create_markets makes drafts that open at a time", async (t) => {
  const { rows } = await exchange.database.pool.query(
    "select market_id from admin.create_markets(markets => $1)",
    [JSON.stringify([{ title: "One", category: "tests", open: false, open_time: OPEN }])],
  );
  t.is(await openTime(rows[0].market_id), new Date(OPEN).toISOString());
});
