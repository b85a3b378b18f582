import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { pairsOf } from "../../helpers/exchange/contention.ts";

/** The category of a market and of an event is edited, and all that hangs on it follows. */

const exchange = testExchange(test, { sessions: 20 });
const {
  balance,
  makeMarket,
  makeMarketWith,
  makeTrader,
  makeTraders,
  market,
  operate,
  place,
  query,
  rest,
} = exchange;

const stays = { code: "EX019" };
const edit = (market_id: string, category: string) =>
  operate("edit_market", { market_id, category });
const editEvent = (event_id: string, category: string) =>
  operate("edit_event", { event_id, category });
const makeEvent = (): Promise<string> =>
  operate("create_event", { title: "A cup", category: "tests" });
/** The slugs in whose lists a market stands. */
const listsOf = async (id: string) =>
  (
    await query(
      `select c.slug, l.list from catalog.market_listings as l
       join catalog.categories as c on c.id = l.category_id
       join catalog.markets as m on m.id = l.market_id
       where m.public_id = $1 order by l.list`,
      [id],
    )
  ).map(({ slug, list }) => `${list} of ${slug}`);
const counts = async (slug: string) =>
  (
    await query(
      "select event_count::int as events, open_market_count::int as open from catalog.categories where slug = $1",
      [slug],
    )
  )[0];

let made = 0;
async function makeCategory(): Promise<string> {
  const slug = `category-${(made += 1)}`;
  await operate("create_category", { slug, name: slug });
  return slug;
}

test("a market moves to another category: lists, counts and the fee from then on", async (t) => {
  const [from, to] = [await makeCategory(), await makeCategory()];
  await operate("set_fee_schedule", { taker_rate_bps: 0, category: from });
  await operate("set_fee_schedule", { taker_rate_bps: 10_000, category: to });
  const id = await makeMarket({ category: from });
  const [ann, bob] = await makeTraders(2);
  await rest(id, ann, buy("no", 10, 50)); // what waits in the book stays
  await edit(id, to);
  t.is((await market(id)).category, to);
  t.deepEqual(await listsOf(id), [`all of ${to}`, `open of ${to}`]);
  t.deepEqual([(await counts(from)).open, (await counts(to)).open], [0, 1]);
  const before = await balance(bob);
  await place(id, bob, buy("yes", 10, 50));
  // 10 shares at 50 cents, and a fee of 10 x 0.5 x 0.5 euros.
  t.is((await balance(bob)) - before, -500 - 250);
});

test("INVALID_STATE: a market that has traded, has sets, is resolved or is of an event", async (t) => {
  const to = await makeCategory();
  const [traded, ann, bob] = await makeMarketWith(2);
  await rest(traded, ann, buy("no", 1, 50));
  await place(traded, bob, buy("yes", 1, 50));
  const split = await makeMarket();
  await exchange.split(split, ann, 1);
  const resolved = await makeMarket();
  await operate("resolve_market", { market_id: resolved, outcome: "no" });
  const ofEvent = await makeMarket({ event_id: await makeEvent() });
  for (const id of [traded, split, resolved, ofEvent]) {
    await t.throwsAsync(edit(id, to), stays);
    t.is((await market(id)).category, "tests");
  }
  await edit(traded, "tests"); // no change
  await t.throwsAsync(edit(traded, "nowhere"), { code: "EX017" });
});

test("an event moves with its markets, until something has traded in one", async (t) => {
  const [to, next] = [await makeCategory(), await makeCategory()];
  const event = await makeEvent();
  const ids = [await makeMarket({ event_id: event }), await makeMarket({ event_id: event })];
  await editEvent(event, to);
  for (const id of ids) {
    t.is((await market(id)).category, to);
    t.deepEqual(await listsOf(id), [`all of ${to}`, `open of ${to}`]);
  }
  t.deepEqual(await counts(to), { events: 1, open: 2 });
  await exchange.split(ids[1]!, await makeTrader(), 1);
  await t.throwsAsync(editEvent(event, next), stays);
  t.deepEqual(await counts(next), { events: 0, open: 0 });
  await makeMarket({ event_id: event, category: to });
  await t.throwsAsync(makeMarket({ event_id: event, category: "tests" }), { code: "EX001" });
});

const pair = pairsOf(test, exchange, 10);

pair(
  "a market is made for an event that moves: it is of the event's category, or refused",
  ["made before", "refused"],
  async (contention, t) => {
    const to = await makeCategory();
    const event = await makeEvent();
    const [, id] = await contention.together([
      () => editEvent(event, to),
      () => makeMarket({ event_id: event }).catch(() => undefined),
    ] as const);
    if (id === undefined) return "refused";
    t.is((await market(id)).category, to);
    return "made before";
  },
);

pair(
  "a market moves while somebody trades in it: the fee is that of its category",
  ["moved", "traded first"],
  async (contention, t) => {
    const to = await makeCategory();
    await operate("set_fee_schedule", { taker_rate_bps: 10_000, category: to });
    const [id, ann, bob] = await makeMarketWith(2);
    await rest(id, ann, buy("no", 10, 50));
    const before = await balance(bob);
    const [moved] = await contention.together([
      () =>
        edit(id, to).then(
          () => true,
          () => false,
        ),
      () => contention.place(id, bob, buy("yes", 10, 50)),
    ] as const);
    // 7 % or 100 % of 250 cents, beside the 500 of the shares.
    t.is(before - (await balance(bob)), 500 + (moved ? 250 : 18));
    return moved ? "moved" : "traded first";
  },
);

test("two markets swap categories at once: neither call waits for the other in a circle", async (t) => {
  const [one, two] = [await makeCategory(), await makeCategory()];
  for (let round = 0; round < 10; round++) {
    const first = await makeMarket({ category: one });
    const second = await makeMarket({ category: two });
    await Promise.all([edit(first, two), edit(second, one)]);
    t.deepEqual([(await market(first)).category, (await market(second)).category], [two, one]);
  }
});
