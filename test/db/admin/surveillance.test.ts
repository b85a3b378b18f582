import test from "ava";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Views for surveillance and for the safety of users, of trades whose figures are plain. */

const exchange = testExchange(test);
const { clock, look, makeMarket, makeMarketWith, makeTrader, operate, place, rest } = exchange;

const DAY_MS = 86_400_000;
const began = Date.now();
const later = (ms: number) => new Date(began + ms).toISOString();

/** The first one buys YES of the other, who buys NO. The buyer of YES is the taker. */
async function trade(market: string, taker: string, maker: string, shares: number, price = 50) {
  await rest(market, maker, buy("no", shares, 100 - price));
  await place(market, taker, buy("yes", shares, price));
}

test.serial("pairs, round trips, large and late trades of 7 days, and a book", async (t) => {
  await clock.freeze(later(0));
  const market = await makeMarket();
  const [ended, carl, dora, eve, finn, ...others] = await makeMarketWith(6);
  // The first of a pair is the one with the lower key.
  const [ann, bob] = (
    await look("select user_id from admin.users where user_id = any ($1) order by user_key", [
      others,
    ])
  ).map(({ user_id }) => user_id as string) as [string, string];
  for (let n = 0; n < 5; n++) await trade(market, ann, bob, 10);
  // Ann bought at 50 and sells at 60: 10 shares earn 100 cents.
  await rest(market, bob, sell("no", 10, 40));
  await place(market, ann, sell("yes", 10, 60));
  await trade(market, carl, dora, 20);
  await trade(market, carl, ann, 10);
  await trade(market, eve, finn, 500);
  await clock.advance(60_000);
  await trade(ended, eve, finn, 3);
  await clock.advance(599_000);
  await operate("resolve_market", { market_id: ended, outcome: "yes" });

  // Volumes: Ann 70, Bob 60, Carl 30, Dora 20, Eve and Finn 503 each.
  const byChance = (70 * 60) / (70 + 60 + 30 + 20 + 2 * 503 - 70);
  const pairs = () =>
    look(`select first_user_id, second_user_id, trade_count, quantity, value_cents, first_percent,
      second_percent, times_chance::float8 from admin.trading_pairs`);
  const [{ value_cents: cents, ...pair }, ...morePairs] = await pairs();
  t.deepEqual(pair, {
    ...{ first_user_id: ann, second_user_id: bob, trade_count: 6, quantity: 60 },
    ...{ first_percent: Math.floor(6000 / 70), second_percent: 100 },
    times_chance: Math.round((600 * 1) / byChance) / 10,
  });
  // Five buys of 10 for 50 each, and a sale for 60, but for fees.
  t.true(Math.abs(cents - (5 * 500 + 600)) < 200, String(cents));
  t.deepEqual(morePairs, []);

  const trips = () =>
    look(`select first_user_id, second_user_id, quantity, yes_price_cents, yes_price_before_cents,
      first_gain_cents, seconds_between from admin.round_trips`);
  t.deepEqual(await trips(), [
    {
      ...{ first_user_id: ann, second_user_id: bob, quantity: 10, yes_price_cents: 60 },
      ...{ yes_price_before_cents: 50, first_gain_cents: 100, seconds_between: 0 },
    },
  ]);

  const large = () =>
    look(`select taker_user_id, quantity, day_quantity, day_percent, day_trade_count
      from admin.large_trades`);
  const dayQuantity = 60 + 20 + 10 + 500;
  t.deepEqual(await large(), [
    {
      ...{ taker_user_id: eve, quantity: 500, day_quantity: dayQuantity, day_trade_count: 9 },
      day_percent: Math.floor(50_000 / dayQuantity),
    },
  ]);

  const late = () =>
    look(`select market_id, taker_user_id, taker_favours, seconds_before from admin.late_trades`);
  t.deepEqual(await late(), [
    { market_id: ended, taker_user_id: eve, taker_favours: "yes", seconds_before: 599 },
  ]);

  const undone = async (view: string) =>
    (await look(`select voided_at is not null as is_undone from admin.${view}`)).map(
      ({ is_undone }) => is_undone,
    );
  const views = ["round_trips", "large_trades", "late_trades"];
  for (const view of views) t.deepEqual(await undone(view), [false], view);
  // The last trade of each of the two, and a market as a whole.
  for (const [view, price] of [
    ["round_trips", 60],
    ["large_trades", 50],
  ]) {
    const [{ trade_id }] = await look(
      `select trade_id from admin.${view} where yes_price_cents = $1`,
      [price],
    );
    await operate("void_trade", { trade_id, reason: "a mistake" });
  }
  await operate("void_market", { market_id: ended, reason: "a mistake" });
  for (const view of views) t.deepEqual(await undone(view), [true], view);

  await rest(market, ann, buy("no", 7, 30));
  await clock.advance(60_000);
  const at = later(60_000 + 599_000);
  await rest(market, ann, buy("no", 8, 20));
  t.deepEqual(await look("select * from admin.book_as_of($1, $2)", [market, at]), [
    { side: "ask", yes_price_cents: 70, quantity: 7, order_count: 1 },
  ]);

  await clock.freeze(later(7 * DAY_MS - 1));
  t.is((await pairs()).length, 1);
  await clock.freeze(later(7 * DAY_MS + 700_000));
  for (const rows of [pairs, trips, large, late]) t.deepEqual(await rows(), []);
});

test.serial("admin.limit_usage: from 80 % of a limit on", async (t) => {
  await clock.freeze(later(0));
  const [market, ann] = await makeMarketWith(1, { limits: [1000, 2000, 3000] });
  const bob = await makeTrader();
  const shown = () =>
    look(
      `select period, limit_cents, net_spent_cents, active_order_cost_cents, used_percent
       from admin.limit_usage where user_id = $1`,
      [ann],
    );
  await rest(market, ann, buy("no", 10, 50));
  await place(market, bob, buy("yes", 10, 50));
  await rest(market, ann, buy("no", 5, 50));
  t.deepEqual(await shown(), []);
  await rest(market, ann, buy("no", 1, 50));
  t.deepEqual(await shown(), [
    {
      ...{ period: "day", limit_cents: 1000, net_spent_cents: 500 },
      ...{ active_order_cost_cents: 300, used_percent: 80 },
    },
  ]);
});

test.serial("admin.unusual_losses: three times the average of days before", async (t) => {
  await clock.freeze(later(0));
  const [market, ann, bob, taker] = await makeMarketWith(3);
  for (const user of [ann, bob]) await trade(market, taker, user, 100);
  await clock.freeze(later(4 * DAY_MS));
  const day = later(4 * DAY_MS).slice(0, 10);
  await trade(market, taker, ann, 300);
  await trade(market, taker, bob, 299);
  const rows = await look(
    `select user_id, day::text, net_spent_cents, usual_cents, usual_days
     from admin.unusual_losses where user_id in ($1, $2)`,
    [ann, bob],
  );
  t.deepEqual(rows, [
    { user_id: ann, day, net_spent_cents: 15_000, usual_cents: 5000, usual_days: 1 },
  ]);
});

test.serial("admin.lookalikes: the name or the mailbox of an excluded user", async (t) => {
  await clock.freeze(later(0));
  const make = (handle: string, display_name: string, email: string) =>
    operate("create_user", { handle, display_name, email });
  const anna = await make("anna1", "Anna Lee", "anna.lee@mail.example");
  const otto = await make("otto1", "Otto", "otto@mail.example");
  await operate("self_exclude", { user_id: anna, until: later(20 * DAY_MS) });
  await operate("self_exclude", { user_id: otto, until: later(2 * DAY_MS) });
  const both = await make("anna2", "ANNA-LEE", "annalee+new@mail.example");
  const name = await make("anna3", "anna lee!", "al@mail.example");
  const mailbox = await make("anna4", "A. L.", "a.n.n.a.l.e.e@MAIL.example");
  await make("anna5", "Anna Leer", "anna.lee@other.example");
  await make("otto2", "Otto", "other@mail.example");
  const shown = () =>
    look(
      `select user_id, same from admin.lookalikes
       where excluded_user_id in ($1, $2) order by handle`,
      [anna, otto],
    );
  t.is((await shown()).length, 4);
  await clock.freeze(later(3 * DAY_MS));
  t.deepEqual(await shown(), [
    { user_id: both, same: "mailbox, name" },
    { user_id: name, same: "name" },
    { user_id: mailbox, same: "mailbox" },
  ]);
  await clock.freeze(later(20 * DAY_MS));
  t.deepEqual(await shown(), []);
  await clock.release();
});
