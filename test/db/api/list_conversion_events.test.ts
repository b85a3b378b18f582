import test from "ava";
import { callsOn } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);
const { convert, makeMarket, makeTraders, operate, redeem, split } = exchange;

test("entries of conversions and redemptions have their events, of the own account only", async (t) => {
  const [ann, bob] = await makeTraders(2);
  const made: string[] = [];
  for (const title of ["Who wins?", "Who loses?"]) {
    const event: string = await operate("create_event", {
      ...{ title, category: "tests", exclusive: true },
    });
    const markets = [await makeMarket({ event_id: event }), await makeMarket({ event_id: event })];
    for (const market of markets) await split(market, ann, 4);
    t.is((await convert(event, ann, markets, 1)).code, null);
    t.is((await redeem(event, ann, 2)).code, null);
    made.push(event);
  }
  const reads = callsOn(exchange.api, api);
  const statement = await reads.getStatement({
    ...{ userId: ann, most: 50, cursor: null, since: null, until: null },
  });
  const entries: { id: number; kind: string }[] = JSON.parse(statement).data;
  const events = async (userId: string) => {
    const entryIds = entries.map(({ id }) => id);
    return JSON.parse(await reads.listConversionEvents({ userId, entryIds })).data;
  };
  const kinds = await events(ann).then((found: { id: number; eventId: string; title: string }[]) =>
    found.map(({ id, eventId, title }) => [
      entries.find((entry) => entry.id === id)?.kind,
      eventId,
      title,
    ]),
  );
  t.deepEqual(kinds, [
    ["redeem", made[1], "Who loses?"],
    ["convert", made[1], "Who loses?"],
    ["redeem", made[0], "Who wins?"],
    ["convert", made[0], "Who wins?"],
  ]);
  t.deepEqual(await events(bob), []);
  t.deepEqual(
    JSON.parse(await reads.listConversionEvents({ userId: ann, entryIds: [1] })).data,
    [],
    "a deposit",
  );
});
