import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { book, clock, makeMarket, makeTrader, market, operate, order, refusal } = exchange;
const { rest, version, work } = exchange;

const NOON = "2040-01-01T12:00:00.000Z";
const ONE = "2040-01-01T13:00:00.000Z";
const TWO = "2040-01-01T14:00:00.000Z";

const edit = (market_id: string, values: Record<string, unknown>) =>
  operate("edit_market", { market_id, ...values });

for (const status of ["open", "paused", "closed"]) {
  test(`title, description and close time of a market that is ${status}`, async (t) => {
    const id = await makeMarket({ description: "Old" });
    const ann = await makeTrader();
    await rest(id, ann, buy("yes", 1, 40));
    await operate("set_market_status", { market_id: id, status });
    const before = await version(id);
    const changed = { title: "Will it snow?", description: "" };
    await edit(id, { ...changed, close_time: "2090-01-01T00:00:00Z" });
    t.like(await market(id), { status, ...changed, closeTime: "2090-01-01T00:00:00.000Z" });
    t.deepEqual((await book(id)).bids, status === "closed" ? [] : ["1 @ 40"]);
    t.is(await version(id), before);
  });
}

test("null leaves a value as it is; no_close_time takes the close time away", async (t) => {
  const id = await makeMarket({ description: "Old", close_time: "2090-01-01T00:00:00Z" });
  const before = await market(id);
  await edit(id, { title: null, description: null, close_time: null, no_close_time: false });
  t.deepEqual(await market(id), before);
  await edit(id, { description: "New" });
  t.deepEqual(await market(id), { ...before, description: "New" });
  await edit(id, { no_close_time: true });
  t.deepEqual(await market(id), { ...before, description: "New", closeTime: null });
});

test("INVALID_REQUEST: a blank title, or a close time together with no_close_time", async (t) => {
  const id = await makeMarket();
  const before = await market(id);
  for (const values of [
    { title: " " },
    { title: "x".repeat(301) },
    { close_time: "2090-01-01T00:00:00Z", no_close_time: true },
    { close_time: "infinity" },
    { close_time: "-infinity" },
  ]) {
    await t.throwsAsync(edit(id, { description: "New", ...values }), { code: "EX001" });
  }
  t.deepEqual(await market(id), before);
});

test.serial("INVALID_REQUEST: a close time that is not in the future", async (t) => {
  await clock.freeze(NOON);
  const id = await makeMarket();
  await t.throwsAsync(edit(id, { close_time: NOON }), { code: "EX001", message: /future/ });
  await edit(id, { close_time: "2040-01-01T12:00:00.001Z" });
  t.is((await market(id)).closeTime, "2040-01-01T12:00:00.001Z");
  await edit(id, { no_close_time: true });
  await clock.release();
});

test("INVALID_STATE: a resolved market", async (t) => {
  const id = await makeMarket();
  await operate("resolve_market", { market_id: id, outcome: "yes" });
  await t.throwsAsync(edit(id, { title: "Was it?" }), { code: "EX019", message: /resolved/ });
});

test("NOT_FOUND: an unknown market", async (t) => {
  await t.throwsAsync(edit("01900000-0000-7000-8000-000000000000", { title: "Is it?" }), {
    code: "EX017",
    message: /There is no market/,
  });
});

test.serial("an earlier close time: orders are refused from then on, and it closes", async (t) => {
  await clock.freeze(NOON);
  const id = await makeMarket({ close_time: TWO });
  const ann = await makeTrader();
  const [early, late] = await rest(
    id,
    ann,
    buy("yes", 1, 40, { expiresAt: "2040-01-01T12:59:59.999Z" }),
    buy("yes", 1, 40, { expiresAt: ONE }),
  );
  await edit(id, { close_time: ONE });
  const { rows } = await exchange.workers.query("select close_in_ms from jobs.next_work()");
  t.is(rows[0].close_in_ms, 3_600_000);

  await clock.freeze(ONE);
  t.is(await refusal(id, ann, buy("yes", 1, 40)), "MARKET_NOT_OPEN");
  await work("expire_orders");
  await work("close_markets");
  t.is((await market(id)).status, "closed");
  t.is((await order(ann, early)).cancelReason, "expired");
  t.is((await order(ann, late)).cancelReason, "market_closed");
  await clock.release();
});

test.serial("a later close time: the market stays open until then", async (t) => {
  await clock.freeze(NOON);
  const id = await makeMarket({ close_time: ONE });
  const ann = await makeTrader();
  // It would have been cancelled by the closing at one: now it expires before the one at two.
  const [id1] = await rest(id, ann, buy("yes", 1, 40, { expiresAt: "2040-01-01T13:30:00Z" }));
  await edit(id, { close_time: TWO });
  await clock.freeze(ONE);
  await work("close_markets");
  t.is((await market(id)).status, "open");
  await rest(id, ann, buy("yes", 1, 41));
  await clock.freeze(TWO);
  await work("expire_orders");
  await work("close_markets");
  t.is((await order(ann, id1)).cancelReason, "expired");
  t.is((await market(id)).status, "closed");
  await clock.release();
});

for (const status of ["open", "paused"]) {
  test.serial(
    `INVALID_STATE: a late job does not keep a market ${status} past its close time`,
    async (t) => {
      await clock.freeze(NOON);
      const id = await makeMarket({ close_time: ONE });
      const ann = await makeTrader();
      const [id1] = await rest(id, ann, buy("yes", 1, 40));
      await operate("set_market_status", { market_id: id, status });
      await clock.freeze(ONE);
      for (const values of [{ close_time: TWO }, { no_close_time: true }]) {
        await t.throwsAsync(edit(id, values), { code: "EX019", message: /set_market_status/ });
      }
      await edit(id, { title: "Was it?" });
      await work("close_markets");
      t.is((await order(ann, id1)).cancelReason, "market_closed");
      t.like(await market(id), { title: "Was it?", status: "closed", closeTime: ONE });
      await clock.release();
    },
  );
}

test("the audit row has the values from before", async (t) => {
  const id = await makeMarket({ title: "Old", description: "Older" });
  await edit(id, { title: "New" });
  const rows = await exchange.query(
    `select arguments -> 'before' as before from admin.audit_log
     where action = 'edit_market' and arguments ->> 'market_id' = $1`,
    [id],
  );
  const before = { title: "Old", description: "Older", close_time: null };
  const nothing = { open_time: null, outcome_name: null, position: null };
  t.deepEqual(rows, [{ before: { ...before, category: "tests", ...nothing } }]);
});
