import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** admin.pay_out_fees: fees leave the exchange, never more than there are. */

const exchange = testExchange(test);
const { accounts, makeMarketWith, makeTraders, operate, place, rest } = exchange;

const payOut = (cents: unknown, reference: unknown): Promise<number> =>
  operate("pay_out_fees", { amount_cents: cents, reference });

/** A market in which a trade of so many shares at 50 has paid 1.75 cents a share, rounded up. */
async function traded(quantity: number): Promise<string> {
  const [market, maker, taker] = await makeMarketWith(2);
  await rest(market, maker, buy("no", quantity, 50));
  await place(market, taker, buy("yes", quantity, 50));
  return market;
}

const revenueOf = async (market: string) => (await accounts(market)).revenue;

async function outside(): Promise<number> {
  const rows = await exchange.query("select balance_cents as cents from ledger.outside_world");
  return rows[0].cents;
}

/** Every other test pays out all that there is at its end. */
test.serial("fees go from the markets with the highest revenue to the outside world", async (t) => {
  const [small, large, middle] = [await traded(4), await traded(100), await traded(40)];
  const revenues = async () => [
    await revenueOf(small),
    await revenueOf(large),
    await revenueOf(middle),
  ];
  t.deepEqual(await revenues(), [7, 175, 70]);
  const before = await outside();
  t.is(await payOut(100, "one"), 152);
  t.deepEqual(await revenues(), [7, 75, 70]);
  t.is(await payOut(80, "two"), 72);
  t.deepEqual(await revenues(), [7, 0, 65]);
  t.is(await payOut(72, "three"), 0);
  t.deepEqual(await revenues(), [0, 0, 0]);
  t.is((await outside()) - before, 252);
});

test.serial("the same reference is one payout, whatever is there by then", async (t) => {
  await traded(100);
  t.is(await payOut(100, "once"), 75);
  t.is(await payOut(100, "once"), 75);
  t.is(await payOut(75, "rest"), 0);
  t.is(await payOut(100, "once"), 0);
  await t.throwsAsync(payOut(75, "once"), {
    code: "EX018",
    message: "The reference 'once' is already used for a fee payout of 100 cents",
  });
});

test.serial(
  "INSUFFICIENT_BALANCE: not more than is there, and the reference is free",
  async (t) => {
    await t.throwsAsync(payOut(1, "empty"), {
      code: "EX011",
      message: "The fees are only 0 cents",
    });
    const market = await traded(100);
    await t.throwsAsync(payOut(176, "more"), {
      code: "EX011",
      message: "The fees are only 175 cents",
    });
    t.is(await revenueOf(market), 175);
    t.is(await payOut(175, "more"), 0);
  },
);

test.serial("INVALID_REQUEST: amounts and references out of bounds", async (t) => {
  const market = await traded(100);
  for (const cents of [0, -1, null, "1000000000000001"]) {
    await t.throwsAsync(payOut(cents, "bad"), { code: "EX001" });
  }
  for (const reference of [null, "", " ", "x".repeat(201)]) {
    await t.throwsAsync(payOut(1, reference), { code: "EX001" });
  }
  t.is(await revenueOf(market), 175);
  t.is(await payOut(175, "bounds"), 0);
});

test.serial("trading goes on, and fees come in again", async (t) => {
  const market = await traded(100);
  t.is(await payOut(175, "first"), 0);
  const [maker, taker] = await makeTraders(2);
  await rest(market, maker, buy("no", 4, 50));
  await place(market, taker, buy("yes", 4, 50));
  t.is(await revenueOf(market), 7);
  t.deepEqual(await exchange.verify(), []);
  t.is(await payOut(7, "second"), 0);
});

test.serial("a payout does not change what users see of a market", async (t) => {
  const market = await traded(100);
  const before = await exchange.version(market);
  t.is(await payOut(175, "unseen"), 0);
  t.is(await exchange.version(market), before);
});

test.serial("the views have each market's part", async (t) => {
  const [one, two] = [await traded(100), await traded(40)];
  t.is(await payOut(200, "parts"), 45);
  const rowsAs = async (role: "exchange_operator" | "exchange_analyst", query: string) =>
    (await exchange.database.connectAs(role, { max: 1 }).query(query)).rows;
  t.deepEqual(
    await rowsAs(
      "exchange_operator",
      `select market_id, amount_cents, reference from admin.fee_payouts
       where reference = 'parts' order by amount_cents desc`,
    ),
    [
      { market_id: one, amount_cents: 175, reference: "parts" },
      { market_id: two, amount_cents: 25, reference: "parts" },
    ],
  );
  const shown = await rowsAs(
    "exchange_analyst",
    `select p.market_id, p.amount_cents, e.account_kind, e.kind, e.amount_cents as line_cents
     from analytics.fee_payouts as p
     join analytics.journal_entries as e on e.journal_key = p.journal_key
     where p.market_id = '${one}'
     order by e.account_kind, line_cents`,
  );
  const part = { market_id: one, amount_cents: 175, kind: "fee_payout" };
  t.deepEqual(shown, [
    { ...part, account_kind: "fee_revenue", line_cents: -175 },
    { ...part, account_kind: "fee_revenue", line_cents: -25 },
    { ...part, account_kind: "outside_world", line_cents: 200 },
  ]);
  t.is(await payOut(45, "the other part"), 0);
});

test.serial("INVALID_REQUEST: a payout takes the fees of 1,000 markets at most", async (t) => {
  const error = await exchange.withRollback(async (client) => {
    await client.query("set local session_replication_role = replica");
    await client.query(
      `insert into trading.market_state
       select (jsonb_populate_record(s, jsonb_build_object(
         'market_id', 1000000 + n, 'revenue_cents', 2
       ))).*
       from trading.market_state as s, generate_series(1, 1001) as n
       where s.market_id = (select min(market_id) from trading.market_state)`,
    );
    await client.query("set local session_replication_role = origin");
    return t.throwsAsync(client.query("select admin.pay_out_fees(2001, 'too many')"));
  });
  t.like(error, { code: "EX001" });
  t.regex(error.message, /at most 1000 markets, which have 2000 cents/);
});
