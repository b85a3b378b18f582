import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

/** What trading does to cost, fees and realised cents of a position. */

const exchange = testExchange(test);
const { makeMarket, makeMarketWith, place, position, rest } = exchange;

async function makeTwo() {
  const [market, ann, bob] = await makeMarketWith(2);
  return { market, ann, bob };
}

test("buys add up cost and fees; the average price is their cost by quantity", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, bob, buy("no", 10, 60), buy("no", 10, 55));
  await place(market, ann, buy("yes", 20, 45)); // 10 at 40, 10 at 45; fee 16.8 + 17.325
  t.deepEqual(await position(market, ann, "yes"), {
    quantity: 20,
    cost: 850,
    fees: 35,
    realised: 0,
  });
  t.deepEqual(await position(market, bob, "no"), {
    quantity: 20,
    cost: 1150,
    fees: 0,
    realised: 0,
  });
});

test("selling takes cost and buy fees out pro rata, half up; the last share takes what is left", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, bob, buy("no", 3, 67));
  await place(market, ann, buy("yes", 3, 33)); // cost 99, fee 4.6431
  t.deepEqual(await position(market, ann, "yes"), { quantity: 3, cost: 99, fees: 5, realised: 0 });

  // Each sold at 40 with a fee of 1.68, so 2: 38 come in.
  await rest(market, bob, buy("yes", 3, 40));
  const sellOne = () => place(market, ann, sell("yes", 1, 40));
  await sellOne(); // 33 and 5/3, so 2, go out
  t.deepEqual(await position(market, ann, "yes"), { quantity: 2, cost: 66, fees: 3, realised: 3 });
  await sellOne(); // 33 and 3/2, so 2
  t.deepEqual(await position(market, ann, "yes"), { quantity: 1, cost: 33, fees: 1, realised: 6 });
  await sellOne(); // 33 and 1
  t.deepEqual(await position(market, ann, "yes"), { quantity: 0, cost: 0, fees: 0, realised: 10 });
});

test("half a cent of cost is rounded up", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, ann, buy("yes", 1, 50), buy("yes", 1, 49));
  await place(market, bob, buy("no", 2, 51));
  t.like(await position(market, ann, "yes"), { quantity: 2, cost: 99 });
  await rest(market, bob, buy("yes", 1, 40));
  await place(market, ann, sell("yes", 1, 40)); // 49.5 of cost
  t.like(await position(market, ann, "yes"), { quantity: 1, cost: 49, realised: 38 - 50 });
});

test("half a cent of cost is rounded up for a maker who sells too", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, ann, buy("yes", 1, 50), buy("yes", 1, 49));
  await place(market, bob, buy("no", 2, 51));
  await rest(market, ann, sell("yes", 1, 60));
  await place(market, bob, buy("yes", 1, 60));
  t.like(await position(market, ann, "yes"), { quantity: 1, cost: 49, realised: 60 - 50 });
});

test("a sell over several bids takes the cost out match by match", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, bob, buy("no", 7, 50));
  await place(market, ann, buy("yes", 7, 50)); // cost 350, fee 12.25
  t.like(await position(market, ann, "yes"), { cost: 350, fees: 13 });
  await rest(market, bob, buy("yes", 2, 60), buy("yes", 2, 55));
  const { feeCents } = await place(market, ann, sell("yes", 4, 50));
  t.is(feeCents, 7); // 2 x 0.24 + 2 x 0.2475 EUR at 7 %: 6.825, of which 4 at the first match
  // 100 and 26/7, so 4, go out; then 100 and 18/5, so 4.
  t.deepEqual(await position(market, ann, "yes"), {
    quantity: 3,
    cost: 150,
    fees: 5,
    realised: 120 - 4 - 100 - 4 + (110 - 3 - 100 - 4),
  });
});

test("a maker's sale takes out cost and fees too, without a fee of its own", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, bob, buy("no", 10, 50));
  await place(market, ann, buy("yes", 10, 50)); // 500 and 18
  await rest(market, ann, sell("yes", 10, 60));
  await place(market, bob, buy("yes", 5, 60));
  t.deepEqual(await position(market, ann, "yes"), {
    quantity: 5,
    cost: 250,
    fees: 9,
    realised: 300 - 250 - 9,
  });
});

test("shares bought after all were sold start at their own cost; the realised amount stays", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, ann, buy("yes", 10, 50));
  await place(market, bob, buy("no", 10, 50));
  await rest(market, ann, sell("yes", 10, 55));
  await place(market, bob, buy("yes", 10, 55));
  t.deepEqual(await position(market, ann, "yes"), { quantity: 0, cost: 0, fees: 0, realised: 50 });
  await rest(market, ann, buy("yes", 4, 30));
  await place(market, bob, buy("no", 4, 70));
  t.deepEqual(await position(market, ann, "yes"), {
    quantity: 4,
    cost: 120,
    fees: 0,
    realised: 50,
  });
});

test("the two sides of a holder are positions of their own", async (t) => {
  const { market, ann, bob } = await makeTwo();
  await rest(market, bob, buy("no", 10, 50), buy("yes", 10, 40));
  await place(market, ann, buy("yes", 10, 50));
  await place(market, ann, buy("no", 10, 60));
  t.deepEqual(await position(market, ann, "yes"), {
    quantity: 10,
    cost: 500,
    fees: 18,
    realised: 0,
  });
  t.deepEqual(await position(market, ann, "no"), {
    quantity: 10,
    cost: 600,
    fees: 17,
    realised: 0,
  });
});

test("markets keep positions apart", async (t) => {
  const { market, ann, bob } = await makeTwo();
  const other = await makeMarket();
  await rest(market, bob, buy("no", 10, 50));
  await place(market, ann, buy("yes", 10, 50));
  t.like(await position(other, ann, "yes"), { quantity: 0 });
  t.is(await exchange.refusal(other, ann, sell("yes", 1, 50)), "INSUFFICIENT_BALANCE");
});

test("each trade keeps what its seller realised, and nothing for a buyer", async (t) => {
  const { market, ann, bob } = await makeTwo();
  const realised = async () => {
    const rows = await exchange.query(
      `select t.taker_realised_cents as taker, t.maker_realised_cents as maker
       from trading.trades as t join catalog.markets as m on m.id = t.market_id
       where m.public_id = $1 order by t.id`,
      [market],
    );
    return rows.map(({ taker, maker }) => [taker, maker]);
  };
  await rest(market, bob, buy("no", 10, 50));
  await place(market, ann, buy("yes", 10, 50)); // fee 17.5
  await rest(market, bob, buy("yes", 2, 60), sell("no", 2, 45));
  await place(market, ann, sell("yes", 4, 55)); // 2 at 60, 2 at 55; fee 3.36 + 3.465
  t.deepEqual(await realised(), [
    [null, null],
    [120 - 4 - 100 - 4, null], // 2/10 of 500 and of 18 go out
    [110 - 3 - 100 - 4, 90 - 100], // 2/8 of 400 and of 14; the maker paid no fees
  ]);
});
