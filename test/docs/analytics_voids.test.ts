import test from "ava";
import { buy } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { readText } from "../helpers/repository.ts";
import { readDocument } from "./document.ts";

/** What operators undid, in the questions of docs/analytics.md that its own history leaves out. */

const exchange = testExchange(test);
const { makeMarket, makeTrader, makeTraders, operate, place, split } = exchange;

const { blocks } = readDocument("docs/analytics.md");

/** The rows with which the page answers a question. */
async function answers(question: string): Promise<any[]> {
  const isIts = ({ language, heading }: (typeof blocks)[number]) =>
    language === "sql" && heading === question;
  return await exchange.query(blocks.find(isIts)!.text);
}

/** Pairs at the end, by the page. */
const pairs = async () => Number((await answers("How did open interest grow?")).at(-1).pairs);

/** Mints so many pairs by a trade at 50, and returns the trade. */
async function mint(market: string, quantity: number): Promise<string> {
  const [maker, taker] = await makeTraders(2);
  await place(market, maker, buy("no", quantity, 50));
  const { fills } = await place(market, taker, buy("yes", quantity, 50));
  return fills[0]!.id;
}

test.serial("open interest after voids of trades and of markets, open and resolved", async (t) => {
  const [open, resolved] = [await makeMarket(), await makeMarket()];
  const trade_id = await mint(open, 10);
  await mint(open, 7);
  await split(open, await makeTrader(), 5);
  await mint(resolved, 20);
  t.is(await pairs(), 42);
  await operate("void_trade", { trade_id, reason: "a mistake" });
  t.is(await pairs(), 32);
  await operate("set_market_status", { market_id: resolved, status: "closed" });
  await operate("resolve_market", { market_id: resolved, outcome: "yes" });
  t.is(await pairs(), 12);
  await operate("void_market", { market_id: resolved, reason: "a mistake" });
  t.is(await pairs(), 12, "its pairs were gone");
  await operate("void_market", { market_id: open, reason: "a mistake" });
  t.is(await pairs(), 0);
});

test.serial(
  "a void takes its fee off what was earned, also once the fees are paid out",
  async (t) => {
    const earned = async (): Promise<number> => {
      let cents = 0;
      for (const month of await answers("What was earned in a month?")) {
        cents += Number(month.fee_cents);
      }
      return cents;
    };
    const market = await makeMarket();
    const before = await earned();
    await mint(market, 100);
    const trade_id = await mint(market, 200);
    t.is(await earned(), before + 175 + 350);
    const paid = { amount_cents: before + 175 + 350 - 1, reference: "fees" };
    t.is(Number(await operate("pay_out_fees", paid)), 1);
    t.is(await earned(), before + 175 + 350);
    await operate("void_trade", { trade_id, reason: "a mistake" });
    t.is(await earned(), before + 175);
  },
);

test.serial(
  "voided markets look as if they were resolved, and are left out as the page says",
  async (t) => {
    const markets = [await makeMarket(), await makeMarket(), await makeMarket()];
    const [open, resolved, voided] = markets;
    const trade_id = await mint(open!, 10);
    await operate("void_trade", { trade_id, reason: "a mistake" });
    await operate("set_market_status", { market_id: resolved, status: "closed" });
    const custom = { market_id: resolved, outcome: "custom", yes_payout_cents: 50 };
    await operate("resolve_market", custom);
    await operate("void_market", { market_id: voided, reason: "a mistake" });
    const { pool } = exchange.database;
    const { rows } = await pool.query(
      `select market_id as id, status, resolved_outcome, yes_payout_cents
     from analytics.markets where market_id = any($1::uuid[])
     order by array_position($1, market_id)`,
      [[resolved, voided]],
    );
    const same = { status: "resolved", resolved_outcome: "custom", yes_payout_cents: 50 };
    t.deepEqual(rows, [
      { id: resolved, ...same },
      { id: voided, ...same },
    ]);
    const [, condition] = /`(where market_key not in [^`]*)`/.exec(readText("docs/analytics.md"))!;
    const left = await pool.query(
      `select market_id as id from analytics.markets ${condition} and market_id = any($1::uuid[])
     order by array_position($1, market_id)`,
      [markets],
    );
    t.deepEqual(left.rows, [{ id: open }, { id: resolved }]);
  },
);
