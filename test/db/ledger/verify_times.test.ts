import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** The clock of a server can be set back between two transactions: the proof gives no row for it. */

const exchange = testExchange(test);
const { amend, cancel, clock, makeMarketWith, makeTrader, operate, place, rest, verify } = exchange;

const DAY_MS = 86_400_000;

test.serial("a clock that is set back between transactions breaks no invariant", async (t) => {
  const [market, ann, ben] = await makeMarketWith(2);
  const deposit = { user_id: ann, amount_cents: 100, reference: "one" };
  await clock.advance(30 * DAY_MS);
  const [maker, amended] = await rest(market, ann, buy("yes", 10, 40), buy("yes", 5, 30));
  await operate("deposit", deposit);
  await clock.advance(-20 * DAY_MS);
  await place(market, ben, buy("no", 4, 60));
  await amend(ann, maker, { quantity: 6 });
  await amend(ann, amended, { price: 31 });
  await operate("deposit", { ...deposit, reference: "two" });
  await clock.advance(-5 * DAY_MS);
  await cancel(ann, maker);
  t.deepEqual(await verify(), []);
});

test.serial("events are sound that were sent by a clock that is set back and on", async (t) => {
  const [market, ann, ben] = await makeMarketWith(2);
  const relay = async () => {
    const send = () => exchange.api.query("select api.relay_outbox() as count");
    while ((await send()).rows[0].count > 0);
  };
  // Forward, back into older partitions, and on, past what is removed.
  for (const days of [3, -2, -1, 1, 4, -5, 6]) {
    await clock.advance(days * DAY_MS);
    await rest(market, ann, buy("yes", 1, 40));
    await place(market, ben, buy("no", 1, 60));
    await relay();
    t.deepEqual(await verify(), []);
    if (days > 0) await exchange.work("remove_sent_events");
    await rest(market, ann, buy("yes", 1, 40));
    await place(market, ben, buy("no", 1, 60));
    t.deepEqual(await verify(), [], "before they are sent");
    await relay();
    t.deepEqual(await verify(), []);
  }
});

test.serial(
  "a deposit whose reference is given again days later has the time of its first call",
  async (t) => {
    const ann = await makeTrader();
    const deposit = { user_id: ann, amount_cents: 100, reference: "again" };
    await operate("deposit", deposit);
    await clock.advance(40 * DAY_MS);
    await operate("deposit", deposit);
    t.deepEqual(await verify(), []);
  },
);
