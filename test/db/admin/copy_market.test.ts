import test from "ava";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.copy_market: the same kind of market again. */

const exchange = testExchange(test);
const { makeMarket, market, operate, query } = exchange;

const copy = (market_id: string, values: object = {}) =>
  operate("copy_market", { market_id, title: "Again", ...values });
const rate = async (id: string) =>
  (
    await query(
      `select f.taker_rate_bps as rate, f.market_id is not null as own
       from catalog.markets as m, trading.fee_in_force(m.id, m.category_id, core.now()) as f
       where m.public_id = $1`,
      [id],
    )
  )[0];

test("a copy has the texts, category, event and picture, and times of its own", async (t) => {
  const event_id = await operate("create_event", { title: "A cup", category: "tests" });
  const original = await makeMarket({
    ...{ title: "First", description: "By the rules.", event_id },
    ...{ close_time: "2090-01-01T00:00:00Z", thumbnail_url: "https://images.example/a.png" },
    thumbnail_id: "0193d0a0-0000-7000-8000-000000000000",
  });
  const { id, createdAt, ...first } = await market(original);
  const copied = await market(await copy(original));
  t.not(copied.id, id);
  t.true(copied.createdAt >= createdAt);
  t.like(copied, { ...first, title: "Again", status: "paused", closeTime: null });

  const times = { close_time: "2091-01-02T00:00:00Z", open_time: "2091-01-01T00:00:00Z" };
  const timed = await copy(original, times);
  t.is((await market(timed)).closeTime, "2091-01-02T00:00:00.000Z");
  const [{ open_time }] = await query("select open_time from admin.markets where market_id = $1", [
    timed,
  ]);
  t.is(open_time.toISOString(), "2091-01-01T00:00:00.000Z");
  t.is((await market(await copy(original, { open: true }))).status, "open");
});

test("a copy has the rules and the source, as the audit log says of it", async (t) => {
  const original = await makeMarket();
  const sourceOf = async (id: string) =>
    (await query("select rules, source_url from catalog.markets where public_id = $1", [id]))[0];
  t.deepEqual(await sourceOf(await copy(original)), { rules: null, source_url: null });
  const rules = "What the bank announces counts.";
  await operate("set_market_source", { market_id: original, rules, source_url: null });
  t.deepEqual(await sourceOf(await copy(original)), { rules, source_url: null });
  const source_url = "https://bank.example/rates";
  await operate("set_market_source", { market_id: original, rules, source_url });
  t.deepEqual(await sourceOf(await copy(original)), { rules, source_url });
  t.deepEqual(await exchange.verify(), []);
});

test("a fee of the market's own is copied, and only that in force", async (t) => {
  const original = await makeMarket();
  t.deepEqual(await rate(await copy(original)), { rate: 700, own: false });
  await operate("set_fee_schedule", { taker_rate_bps: 123, market_id: original });
  await operate("set_fee_schedule", {
    ...{ taker_rate_bps: 456, market_id: original },
    effective_from: "2090-01-01T00:00:00Z",
  });
  t.deepEqual(await rate(await copy(original)), { rate: 123, own: true });
  t.deepEqual(await rate(await copy(original, { with_fee: false })), { rate: 700, own: false });
});

test("ROLE_REQUIRED: a fee needs the role cash as well, and nothing is made without", async (t) => {
  const operators = exchange.database.connectAs("exchange_operator");
  const { cookieHash } = await makeStaff(exchange, ["markets"]);
  const original = await makeMarket();
  const by = (values: object = {}) =>
    callBy(operators, cookieHash, "copy_market", {
      ...{ market_id: original, title: "By a member" },
      ...values,
    });
  await by();
  await operate("set_fee_schedule", { taker_rate_bps: 0, market_id: original });
  await t.throwsAsync(by(), { code: "EX042" });
  await by({ with_fee: false });
  const made = await query("select from catalog.markets where title = 'By a member'");
  t.is(made.length, 2);
});

test("NOT_FOUND, INVALID_REQUEST: no such market, or a copy that cannot be", async (t) => {
  await t.throwsAsync(copy("01900000-0000-7000-8000-000000000000"), { code: "EX017" });
  const original = await makeMarket();
  await t.throwsAsync(copy(original, { title: " " }), { code: "EX001" });
  await t.throwsAsync(copy(original, { close_time: "2020-01-01" }), { code: "EX001" });
});
