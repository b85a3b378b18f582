import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Events of which exactly one market resolves YES, and the outcomes of an event. */

const exchange = testExchange(test);
const { giveShares, makeMarket, makeTrader, operate } = exchange;

const makeEvent = (exclusive = true): Promise<string> =>
  operate("create_event", { title: "Who wins?", category: "tests", exclusive });

const row = async (market_id: string): Promise<any> =>
  (
    await exchange.database.pool.query(
      `select outcome_name, "position" from admin.markets where market_id = $1`,
      [market_id],
    )
  ).rows[0];

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
