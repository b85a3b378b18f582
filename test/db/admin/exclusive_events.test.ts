import test from "ava";
import type { PoolClient } from "pg";
import { overlapping } from "../../helpers/database/overlapping.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Events of which exactly one market resolves YES, and the outcomes of an event. */

const exchange = testExchange(test, { sessions: 3 });
const { giveShares, makeMarket, makeTrader, operate } = exchange;

const makeEvent = (exclusive = true): Promise<string> =>
  operate("create_event", { title: "Who wins?", category: "tests", exclusive });

const row = async (market_id: string): Promise<any> =>
  (
    await exchange.query(
      `select outcome_name, "position" from admin.markets where market_id = $1`,
      [market_id],
    )
  )[0];

/** The markets of a new exclusive event, for outcomes A, B, and so on. */
const makeOutcomes = async (count: number, exclusive = true) => {
  const event_id = await makeEvent(exclusive);
  const markets: string[] = [];
  for (let at = 0; at < count; at++) {
    const outcome_name = String.fromCharCode(65 + at);
    markets.push(await makeMarket({ event_id, outcome_name }));
  }
  return { event_id, markets };
};

test("a market has an outcome name and a place in its event: the last, or as it is given", async (t) => {
  const event_id = await makeEvent(false);
  const first = await makeMarket({ event_id, outcome_name: "Ann" });
  const second = await makeMarket({ event_id, position: 7 });
  const third = await makeMarket({ event_id, outcome_name: "Cleo" });
  t.deepEqual(await row(first), { outcome_name: "Ann", position: 1 });
  t.deepEqual(await row(second), { outcome_name: null, position: 7 });
  t.deepEqual(await row(third), { outcome_name: "Cleo", position: 8 });
  await operate("edit_market", { market_id: second, outcome_name: "Bob", position: 2 });
  await operate("edit_market", { market_id: second, title: "Will Bob win?" });
  t.deepEqual(await row(second), { outcome_name: "Bob", position: 2 });
  t.deepEqual(await row(await makeMarket()), { outcome_name: null, position: null });
});

test("INVALID_REQUEST: an outcome name or place without an event, a blank name, place 0", async (t) => {
  const event_id = await makeEvent();
  const alone = await makeMarket();
  const invalid = (message: RegExp) => ({ code: "EX001", message });
  for (const values of [{ outcome_name: "Ann" }, { position: 1 }]) {
    await t.throwsAsync(makeMarket(values), invalid(/^Only a market of an event/));
    await t.throwsAsync(
      operate("edit_market", { market_id: alone, ...values }),
      invalid(/^Only a market of an event/),
    );
  }
  await t.throwsAsync(makeMarket({ event_id, outcome_name: " " }), invalid(/^The outcome name/));
  await t.throwsAsync(makeMarket({ event_id, position: 0 }), invalid(/^The place must be from 1/));
  await t.throwsAsync(
    operate("create_event", { title: "E", category: "tests", exclusive: null }),
    invalid(/^A value is required for exclusive$/),
  );
});

test("INVALID_STATE: once shares were made, an event stays exclusive or not, and no market comes", async (t) => {
  for (const exclusive of [true, false]) {
    const { event_id, markets } = await makeOutcomes(2, exclusive);
    await operate("edit_event", { event_id, exclusive: !exclusive });
    await operate("edit_event", { event_id, exclusive });
    await giveShares(markets[1]!, await makeTrader(), "yes", 1);
    const refused = { code: "EX019", message: /has traded or is resolved/ };
    await t.throwsAsync(operate("edit_event", { event_id, exclusive: !exclusive }), refused);
    await operate("edit_event", { event_id, exclusive, title: "Who won?" });
    const another = makeMarket({ event_id });
    if (exclusive) await t.throwsAsync(another, refused);
    else t.is(typeof (await another), "string");
  }
});

test("INVALID_STATE: an exclusive event has at most 500 markets", async (t) => {
  const event_id = await makeEvent(false);
  const markets = Array.from({ length: 500 }, (_, at) => ({
    ...{ title: `Will ${at} win?`, category: "tests", event_id },
  }));
  await exchange.query("select admin.create_markets(markets => $1)", [JSON.stringify(markets)]);
  const refused = { code: "EX019", message: /at most 500 markets/ };
  await operate("edit_event", { event_id, exclusive: true });
  await t.throwsAsync(makeMarket({ event_id }), refused);
  await operate("edit_event", { event_id, exclusive: false });
  await makeMarket({ event_id });
  await t.throwsAsync(operate("edit_event", { event_id, exclusive: true }), refused);
});

const resolve = (market_id: string, outcome: string, yes_payout_cents: number | null = null) =>
  operate("resolve_market", { market_id, outcome, yes_payout_cents });
const correct = (market_id: string, outcome: string, yes_payout_cents: number | null = null) =>
  operate("correct_resolution", { market_id, outcome, yes_payout_cents, reason: "a mistake" });
const voidMarket = (market_id: string) => operate("void_market", { market_id, reason: "a test" });

const tooMuch = (cents: number) => ({
  ...{ code: "EX019", message: new RegExp(`would pay ${cents} cents in all, and may pay 100`) },
});
const tooLittle = (cents: number) => ({
  ...{ code: "EX019", message: new RegExp(`must pay the ${cents} cents that are left of 100`) },
});

test("INVALID_STATE: one market of an exclusive event resolves YES, and no second one", async (t) => {
  const { markets } = await makeOutcomes(3);
  const [a, b, c] = markets as [string, string, string];
  await resolve(b, "yes");
  await t.throwsAsync(resolve(a, "yes"), tooMuch(200));
  await t.throwsAsync(resolve(a, "custom", 1), tooMuch(101));
  await resolve(a, "no");
  await resolve(c, "no");
});

test("INVALID_STATE: markets of an exclusive event that resolve at the same moment", async (t) => {
  const { markets } = await makeOutcomes(3);
  const to60 = (market: string) => (client: PoolClient) =>
    client.query("select admin.resolve_market($1, 'custom', yes_payout_cents => 60)", [market]);
  const [one, other] = markets.map(to60);
  const late = await overlapping(exchange.database.pool, one!, other!);
  t.like(late.second, { status: "rejected", reason: { code: "EX019" } });
});

test("INVALID_STATE: the last market of an exclusive event pays what the others leave", async (t) => {
  const { markets } = await makeOutcomes(3);
  const [a, b, c] = markets as [string, string, string];
  await resolve(a, "no");
  await resolve(b, "no");
  await t.throwsAsync(resolve(c, "no"), tooLittle(100));
  await t.throwsAsync(resolve(c, "custom", 99), tooLittle(100));
  await resolve(c, "yes");

  const shared = (await makeOutcomes(3)).markets as [string, string, string];
  await resolve(shared[0], "custom", 50);
  await t.throwsAsync(resolve(shared[1], "custom", 51), tooMuch(101));
  await resolve(shared[1], "custom", 30);
  await t.throwsAsync(resolve(shared[2], "no"), tooLittle(20));
  await t.throwsAsync(resolve(shared[2], "custom", 19), tooLittle(20));
  await t.throwsAsync(resolve(shared[2], "custom", 21), tooMuch(101));
  await resolve(shared[2], "custom", 20);

  const [only] = (await makeOutcomes(1)).markets as [string];
  await t.throwsAsync(resolve(only, "no"), tooLittle(100));
  await resolve(only, "yes");
});

/** What admin.markets proposes for each market. */
const proposed = async (markets: string[]): Promise<(string | null)[]> => {
  const rows = await exchange.query(
    `select proposed_outcome from admin.markets where market_id = any($1)
     order by array_position($1, market_id)`,
    [markets],
  );
  return rows.map((market) => market.proposed_outcome);
};

test("what an exclusive event leaves to its other markets is proposed: NO after a YES, else the last YES", async (t) => {
  const { markets } = await makeOutcomes(3);
  const [a, b, c] = markets as [string, string, string];
  t.deepEqual(await proposed(markets), [null, null, null]);
  await resolve(b, "no");
  t.deepEqual(await proposed(markets), [null, null, null]);
  await resolve(c, "no");
  t.deepEqual(await proposed(markets), ["yes", null, null]);
  await resolve(a, "yes");
  t.deepEqual(await proposed(markets), [null, null, null]);

  const won = (await makeOutcomes(3)).markets;
  await resolve(won[1]!, "yes");
  t.deepEqual(await proposed(won), ["no", null, "no"]);
  await correct(won[1]!, "custom", 60);
  t.deepEqual(await proposed(won), [null, null, null]);
  await voidMarket(won[1]!);
  await resolve(won[0]!, "no");
  t.deepEqual(await proposed(won), [null, null, null]);

  t.deepEqual(await proposed((await makeOutcomes(1)).markets), [null], "nothing is decided yet");

  const several = (await makeOutcomes(2, false)).markets;
  await resolve(several[0]!, "yes");
  t.deepEqual(await proposed([...several, await makeMarket()]), [null, null, null]);
});

test("a voided market of an exclusive event pays nothing: less than 100 is allowed then", async (t) => {
  const { markets } = await makeOutcomes(3);
  const [a, b, c] = markets as [string, string, string];
  await resolve(a, "yes");
  await voidMarket(a);
  await resolve(b, "no");
  t.is((await resolve(c, "no")).yesPayoutCents, 0);

  const others = (await makeOutcomes(2)).markets as [string, string];
  await voidMarket(others[0]);
  t.is((await resolve(others[1], "yes")).yesPayoutCents, 100);

  const last = (await makeOutcomes(2)).markets as [string, string];
  await resolve(last[0], "no");
  await voidMarket(last[1]);
});

test("markets of an event that is not exclusive resolve as they like", async (t) => {
  const { markets } = await makeOutcomes(2, false);
  for (const market of markets) t.is((await resolve(market, "yes")).yesPayoutCents, 100);
  for (const market of markets) t.is((await correct(market, "no")).yesPayoutCents, 0);
});
