import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** api.search_events: the events of all categories; api.list_outcomes: the markets of one. */

const exchange = testExchange(test, { idsAscend: true });
const { clock, makeMarket, makeTraders, operate, place, rest, work } = exchange;

interface Asked {
  query?: string;
  status?: string;
  sort?: string;
  page?: number;
  pageSize?: number;
}

async function list(asked: Asked = {}): Promise<any> {
  const given = { page: 1, pageSize: 50, status: "open", sort: "volume", ...asked };
  return JSON.parse(await exchange.calls.searchEvents(given));
}

const outcomesOf = async (eventId: string): Promise<any> =>
  JSON.parse((await exchange.calls.listOutcomes({ eventId })) ?? "null");

const titles = async (asked: Asked): Promise<string[]> =>
  (await list(asked)).data.map(({ title }: { title: string }) => title);

const events: Record<string, string> = {};
const markets: Record<string, string> = {};

test.serial.before("make events", async () => {
  await clock.freeze("2030-01-01T12:00:00Z");
  await operate("create_category", { slug: "sports", name: "Sports" });
  for (const [title, category, closings] of [
    ["Chess Olympiad", "sports", ["2030-03-01", "2030-02-15"]],
    ["Election", "tests", ["2030-02-01", null, null]],
    ["Weather", "tests", [null]],
    ["Over", "tests", ["2030-05-01"]],
    ["Nothing yet", "tests", []],
  ] as const) {
    const event_id = await operate("create_event", { title, category });
    events[title] = event_id;
    for (const [at, close_time] of closings.entries()) {
      const name = `${title} ${at}`;
      markets[name] = await makeMarket({ ...{ title: name, category, event_id, close_time } });
    }
  }
  await operate("set_market_status", { market_id: markets["Over 0"], status: "closed" });
  const [ann, bob] = await makeTraders(2);
  for (const [name, quantity] of [
    ["Election 1", 2],
    ["Election 2", 3],
    ["Chess Olympiad 0", 4],
  ] as const) {
    await place(markets[name]!, ann, buy("yes", quantity, 50));
    await place(markets[name]!, bob, buy("no", quantity, 50));
  }
  await work("make_candles");
});

test.serial(
  "sorted by the volume of all markets, newest, or by the first that closes",
  async (t) => {
    t.deepEqual(await titles({}), ["Election", "Chess Olympiad", "Weather"]);
    t.deepEqual(await titles({ sort: "newest" }), ["Weather", "Election", "Chess Olympiad"]);
    t.deepEqual(await titles({ sort: "closing" }), ["Election", "Chess Olympiad", "Weather"]);
    t.deepEqual(await titles({ status: "closed" }), ["Over"]);
    await t.throwsAsync(list({ status: "all" }), { code: "EX001" });
    await t.throwsAsync(list({ sort: "worst" }), { code: "EX001" });
  },
);

test.serial("by words of the event and of its markets, and by pages", async (t) => {
  t.deepEqual(await titles({ query: "olympiad CHESS" }), ["Chess Olympiad"]);
  t.deepEqual(await titles({ query: "election 2" }), ["Election"]);
  t.deepEqual(await titles({ query: "over" }), []);
  t.deepEqual(await titles({ query: "over", status: "closed" }), ["Over"]);
  t.deepEqual(await titles({ query: "!" }), []);
  const first = await list({ pageSize: 2 });
  t.deepEqual(first.meta, { total: 3, page: 1, limit: 2, hasMore: true });
  t.deepEqual(await titles({ pageSize: 2, page: 2 }), ["Weather"]);
  const far = await list({ pageSize: 50, page: 2_147_483_647 });
  t.deepEqual([far.data, far.meta.total], [[], 3]);
  t.deepEqual(await titles({ query: "election", page: 2 }), []);
});

test.serial("an event moves with the status of its markets", async (t) => {
  const set = (name: string, status: string) =>
    operate("set_market_status", { market_id: markets[name], status });
  await set("Chess Olympiad 1", "closed");
  t.deepEqual(await titles({ sort: "closing" }), ["Election", "Chess Olympiad", "Weather"]);
  await set("Chess Olympiad 0", "paused");
  t.deepEqual(await titles({}), ["Election", "Weather"]);
  t.deepEqual(await titles({ status: "closed" }), ["Over"]);
  await operate("resolve_market", { market_id: markets["Chess Olympiad 0"], outcome: "yes" });
  t.deepEqual(await titles({ status: "closed" }), ["Chess Olympiad", "Over"]);
  await set("Over 0", "open");
  t.deepEqual(await titles({}), ["Election", "Over", "Weather"]);
});

test.serial("outcomes by chance, those without one last, by their place", async (t) => {
  t.is(await outcomesOf("01900000-0000-7000-8000-000000000000"), null);
  t.deepEqual(await outcomesOf(events["Nothing yet"]!), { exclusive: false, outcomes: [] });

  const event_id = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const make = (outcome_name: string | null, position: number) =>
    makeMarket({ event_id, title: `Outcome ${position}`, outcome_name, position });
  const late = await make("Late", 9);
  const early = await make("Early", 3);
  const mid = await make("Mid", 5);
  const last = await make(null, 4);
  const [ann, bob, cleo] = await makeTraders(3);
  await rest(mid, ann, buy("yes", 5, 60), buy("no", 5, 35));
  await place(last, ann, buy("yes", 2, 80));
  await place(last, bob, buy("no", 2, 20));
  // A bid that has expired is none, though no worker has cancelled it yet.
  await rest(late, cleo, buy("yes", 1, 97, { expiresAt: "2030-01-01T12:00:05Z" }));
  await clock.advance(6000);

  const { exclusive, outcomes } = await outcomesOf(event_id);
  t.true(exclusive);
  t.deepEqual(
    outcomes.map((outcome: any) => Object.values(outcome)),
    [
      [last, "Outcome 4", 4, 80, "last", null, null, 200, "open", null],
      [mid, "Mid", 5, 62.5, "mid", 60, 65, 0, "open", null],
      [early, "Early", 3, null, "none", null, null, 0, "open", null],
      [late, "Late", 9, null, "none", null, null, 0, "open", null],
    ],
  );
  await operate("resolve_market", { market_id: last, outcome: "yes" });
  // The others are closed with it, so that their orders are gone.
  const after = (await outcomesOf(event_id)).outcomes;
  t.deepEqual(
    after.map((outcome: any) => [outcome.outcomeName, outcome.chance, outcome.resolvedOutcome]),
    [
      ["Early", null, null],
      ["Outcome 4", null, "yes"],
      ["Mid", null, null],
      ["Late", null, null],
    ],
  );
});
