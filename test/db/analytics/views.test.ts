import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { clock, makeMarket, makeTraders, place, rest } = exchange;

let analysts: ReturnType<typeof exchange.database.connectAs>;
let market: string;
let ann: string;
let bob: string;

async function query(text: string, values: unknown[] = [market]): Promise<any[]> {
  return (await analysts.query(text, values)).rows;
}

/** Ann and Bob make pairs at 40, Ann sells on to Bob, and both give pairs back at 70. */
test.serial.before(async () => {
  analysts = exchange.database.connectAs("exchange_analyst");
  await clock.freeze("2030-01-01T12:00:30Z");
  market = await makeMarket();
  [ann, bob] = await makeTraders(2);
  await rest(market, ann, buy("yes", 10, 40));
  await place(market, bob, buy("no", 10, 60));
  await clock.advance(60_000);
  await rest(market, bob, buy("yes", 4, 50));
  await place(market, ann, sell("yes", 4, 50));
  await clock.advance(24 * 3_600_000);
  await rest(market, bob, sell("no", 3, 30));
  await place(market, ann, sell("yes", 3, 70));
});

test("trades show both orders and what they bought or sold", async (t) => {
  t.deepEqual(
    await query(
      `select match_type, yes_price_cents as price, quantity, taker_user_id = $2 as by_ann,
         taker_order_type || ' ' || taker_side as taker, maker_order_type || ' ' || maker_side as maker
       from analytics.trades where market_id = $1 order by trade_key`,
      [market, ann],
    ),
    [
      {
        match_type: "mint",
        price: 40,
        quantity: 10,
        by_ann: false,
        taker: "buy no",
        maker: "buy yes",
      },
      {
        match_type: "transfer",
        price: 50,
        quantity: 4,
        by_ann: true,
        taker: "sell yes",
        maker: "buy yes",
      },
      {
        match_type: "burn",
        price: 70,
        quantity: 3,
        by_ann: true,
        taker: "sell yes",
        maker: "sell no",
      },
    ],
  );
});

test("fills are the trades from each side, and move the cash that the ledger says", async (t) => {
  const [sums] = await query(
    `select
       sum(case f.order_type when 'buy' then -f.amount_cents else f.amount_cents end - f.fee_cents)
         filter (where f.user_id = $2)::int as by_fills,
       (select sum(e.amount_cents)::int from analytics.journal_entries as e
        where e.user_id = $2 and e.kind = 'trade') as by_ledger,
       count(*)::int as fills
     from analytics.fills as f where f.market_id = $1`,
    [market, ann],
  );
  t.is(sums.by_fills, sums.by_ledger);
  t.is(sums.fills, 6);
  t.deepEqual(
    await query(
      `select role, order_type, side, price_cents as price from analytics.fills
       where market_id = $1 and user_id = $2 order by trade_key`,
      [market, bob],
    ),
    [
      { role: "taker", order_type: "buy", side: "no", price: 60 },
      { role: "maker", order_type: "buy", side: "yes", price: 50 },
      { role: "maker", order_type: "sell", side: "no", price: 30 },
    ],
  );
});

test("fees, shares and escrow agree between the views", async (t) => {
  const [row] = await query(
    `select
       (select sum(fee_cents)::int from analytics.fee_revenue where market_id = $1) as revenue,
       (select sum(fee_cents)::int from analytics.orders where market_id = $1) as of_orders,
       (select sum(amount_cents)::int from analytics.journal_entries
        where market_id = $1 and account_kind = 'fee_revenue') as of_ledger,
       i.pair_count, i.escrow_cents, i.yes_holder_count, i.no_holder_count
     from analytics.open_interest as i where i.market_id = $1`,
  );
  t.true(row.revenue > 0);
  t.is(row.of_orders, row.revenue);
  t.is(row.of_ledger, row.revenue);
  t.like(row, { pair_count: 7, escrow_cents: 700, yes_holder_count: 2, no_holder_count: 1 });
});

test("candles open, close and count by whole minutes and days", async (t) => {
  const candles = (width: string) =>
    query(
      `select opened_at, open_yes_price_cents as o, high_yes_price_cents as h,
         low_yes_price_cents as l, close_yes_price_cents as c, quantity as q, yes_volume_cents as v
       from analytics.candles($1, $2, '2030-01-01', '2030-02-01')`,
      [market, width],
    );
  t.deepEqual(await candles("1 minute"), [
    { opened_at: new Date("2030-01-01T12:00Z"), o: 40, h: 40, l: 40, c: 40, q: 10, v: 400 },
    { opened_at: new Date("2030-01-01T12:01Z"), o: 50, h: 50, l: 50, c: 50, q: 4, v: 200 },
    { opened_at: new Date("2030-01-02T12:01Z"), o: 70, h: 70, l: 70, c: 70, q: 3, v: 210 },
  ]);
  t.deepEqual(await candles("1 day"), [
    { opened_at: new Date("2030-01-01"), o: 40, h: 50, l: 40, c: 50, q: 14, v: 600 },
    { opened_at: new Date("2030-01-02"), o: 70, h: 70, l: 70, c: 70, q: 3, v: 210 },
  ]);
});

test("daily results add up to what positions have realised", async (t) => {
  const results = await query(
    `select r.day, u.user_id = $1 as ann, r.fill_count, r.taker_quantity, r.maker_quantity
     from analytics.daily_trader_results('2030-01-01', '2030-01-03') as r
     join analytics.users as u using (user_key)
     order by 1, 2`,
    [ann],
  );
  t.deepEqual(results, [
    { day: "2030-01-01", ann: false, fill_count: 2, taker_quantity: 10, maker_quantity: 4 },
    { day: "2030-01-01", ann: true, fill_count: 2, taker_quantity: 4, maker_quantity: 10 },
    { day: "2030-01-02", ann: false, fill_count: 1, taker_quantity: 0, maker_quantity: 3 },
    { day: "2030-01-02", ann: true, fill_count: 1, taker_quantity: 3, maker_quantity: 0 },
  ]);
  const realised = await query(
    `select user_key, sum(realised_cents)::int as realised from analytics.positions
     group by 1 order by 1`,
    [],
  );
  t.deepEqual(
    await query(
      `select user_key, sum(realised_cents)::int as realised
       from analytics.daily_trader_results() group by 1 order by 1`,
      [],
    ),
    realised,
  );
  t.true(realised.some((row) => row.realised !== 0));
});

test("users show their cash, their limits in force and what counts toward the limits", async (t) => {
  await exchange.operate("set_loss_limits", {
    ...{ user_id: ann, day_cents: 5000, week_cents: 9000, month_cents: null, immediate: true },
  });
  await exchange.operate("set_loss_limits", {
    ...{ user_id: ann, day_cents: 7000, week_cents: 8000, month_cents: null },
  });
  const read = () =>
    query(
      `select balance_cents, net_deposits_cents, day_limit_cents, week_limit_cents,
         month_limit_cents, day_net_spent_cents, week_net_spent_cents
       from analytics.users where user_id = $1`,
      [ann],
    );
  const [user] = await read();
  t.like(user, { day_limit_cents: 5000, week_limit_cents: 8000, month_limit_cents: null });
  t.is(user.week_net_spent_cents, user.net_deposits_cents - user.balance_cents);
  // Today she only sold.
  t.true(user.day_net_spent_cents < 0);
  await exchange.withRollback(async (client) => {
    await client.query("update test_clock.setting set frozen_at = frozen_at + interval '1 day'");
    const { rows } = await client.query(
      "select day_limit_cents, day_net_spent_cents from analytics.users where user_id = $1",
      [ann],
    );
    t.deepEqual(rows, [{ day_limit_cents: 7000, day_net_spent_cents: 0 }]);
  });
});
