import test from "ava";
import { inTransaction } from "../helpers/exchange/held_locks.ts";
import { buy, placeOrders, sell } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { readDocument } from "./document.ts";

/** Who held what, and where the cash was, in an exclusive event and after voids and resolutions. */

const exchange = testExchange(test);
const { clock, convert, makeMarket, makeTraders, merge, operate, place, position } = exchange;
const { query, redeem, rest, split } = exchange;

const { blocks } = readDocument("docs/analytics.md");
const [asksForShares] = blocks.filter(
  ({ language, heading }) => language === "sql" && heading === "Who held what at that moment?",
);
const [asksForNew] = blocks.filter(
  ({ language, heading }) => language === "sql" && heading === "Take new rows to another database",
);
const START = Date.parse("2030-03-01T10:00:00Z");

/** An exclusive event of three markets, and a market of its own. */
async function makeEvent(): Promise<{ event: string; titles: string[]; markets: string[] }> {
  const event: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const titles = ["Will A win?", "Will B win?", "Will C win?"];
  const markets: string[] = [];
  for (const [index, title] of titles.entries()) {
    markets.push(await makeMarket({ event_id: event, outcome_name: "ABC"[index], title }));
  }
  // Once shares were converted, no market of the event can be voided.
  titles.push("Will it rain?");
  markets.push(await makeMarket({ title: "Will it rain?" }));
  return { event, titles, markets };
}

/** By the page: "handle side shares" of each who held some. */
async function heldBy(title: string, at: number): Promise<string[]> {
  const text = asksForShares!.text
    .replace(/title = '[^']*'/, `title = '${title}'`)
    .replace(/timestamptz '[^']*'/, `timestamptz '${new Date(at).toISOString()}'`);
  const rows = await query(text);
  return rows.map(({ handle, side, shares }) => `${handle} ${side} ${shares}`).sort();
}

test.serial("shares of a moment are those that the traders had then", async (t) => {
  await clock.freeze(new Date(START));
  const { event, titles, markets } = await makeEvent();
  const [a, b, c, d] = markets as [string, string, string, string];
  const traders = await makeTraders(2);
  const [ann, bob] = traders;
  const handles: string[] = [];
  for (const user of traders) {
    const [row] = await query("select handle from analytics.users where user_id = $1", [user]);
    handles.push(row.handle);
  }
  /** A market's shares are zero from its end on, where the position keeps what was settled. */
  const ended = new Set<string>();
  const now = async (market: string): Promise<string[]> => {
    if (ended.has(market)) return [];
    const held: string[] = [];
    for (const [index, user] of traders.entries()) {
      for (const side of ["yes", "no"] as const) {
        const { quantity } = await position(market, user, side);
        if (quantity > 0) held.push(`${handles[index]} ${side} ${quantity}`);
      }
    }
    return held.sort();
  };
  const trades: string[] = [];
  const sellTo = async (market: string, quantity: number): Promise<void> => {
    await rest(market, ann, sell("yes", quantity, 40));
    const { fills } = await place(market, bob, buy("yes", quantity, 40));
    trades.push(fills[0]!.id);
  };
  const end = async (market: string, name: string, values: object): Promise<void> => {
    await operate(name, { market_id: market, ...values });
    ended.add(market);
  };
  const reason = "a mistake";
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      for (const market of markets) await split(market, ann, 20);
    },
    () => convert(event, ann, [a, b], 4),
    () => redeem(event, ann, 3),
    () => sellTo(a, 5),
    () => merge(b, ann, 2),
    () => sellTo(d, 6),
    () => sellTo(d, 1),
    () => operate("void_trade", { trade_id: trades[1], reason }),
    () => end(d, "void_market", { reason }),
    () => end(a, "resolve_market", { outcome: "yes" }),
    () => end(c, "resolve_market", { outcome: "no" }),
    () =>
      operate("correct_resolution", {
        market_id: c,
        outcome: "custom",
        yes_payout_cents: 0,
        reason,
      }),
  ];
  const seen: string[][][] = [];
  for (const [index, step] of steps.entries()) {
    await clock.freeze(new Date(START + (index + 1) * 60_000));
    await step();
    seen.push(await Promise.all(markets.map(now)));
  }
  t.true(new Set(seen.map((held) => JSON.stringify(held))).size >= 10, "each step moves shares");
  for (const [index, shares] of seen.entries()) {
    // At the moment itself, and up to the next one.
    for (const later of [0, 59_999]) {
      const at = START + (index + 1) * 60_000 + later;
      for (const [market, title] of titles.entries()) {
        t.deepEqual(await heldBy(title, at), shares[market], `${title} after step ${index}`);
      }
    }
  }
  t.deepEqual(await heldBy(titles[0]!, START), []);
});

test.serial(
  "account_key / 4 is the market of market_escrow, the event of event_escrow",
  async (t) => {
    const { event, markets: made } = await makeEvent();
    const [ann] = await makeTraders(1);
    for (const market of made) await split(market, ann, 20);
    await convert(event, ann, made.slice(0, 2), 7);
    await redeem(event, ann, 3);
    const balances = async (kind: string) =>
      query(
        `select e.account_key / 4 as key, sum(e.amount_cents)::int as cents
       from analytics.journal_entries as e where e.account_kind = $1 group by 1 order by 1`,
        [kind],
      );
    const events = await query(
      "select id as key, escrow_cents::int as cents from catalog.events where exclusive order by id",
    );
    t.true(events.some(({ cents }) => cents !== 0));
    t.deepEqual(await balances("event_escrow"), events);
    const markets = await query(
      `select e.account_key / 4 as key, m.market_id as id from analytics.journal_entries as e
     join analytics.markets as m on m.market_key = e.account_key / 4
     where e.kind in ('convert', 'redeem') and e.account_kind = 'market_escrow' group by 1, 2`,
    );
    t.true(markets.length >= 2);
    const found = await balances("market_escrow");
    for (const { key, id } of markets) {
      const { escrow } = await exchange.accounts(id);
      t.is(found.find((it) => it.key === key).cents, escrow);
    }
  },
);

test.serial("a trade that is committed late comes with a later run, and each comes", async (t) => {
  await clock.freeze(new Date(START + 86_400_000));
  const taken = new Set<number>();
  let last = 0;
  /** The keys that were not there before. */
  const run = async (): Promise<number[]> => {
    const rows = await query(asksForNew!.text.replace(/trade_key > \d+/, `trade_key > ${last}`));
    const added = rows.map((row) => Number(row.trade_key)).filter((key) => !taken.has(key));
    for (const key of added) taken.add(key);
    const settled = rows.filter((row) => row.is_settled).map((row) => Number(row.trade_key));
    last = Math.max(last, ...settled);
    return added;
  };
  const [one, other] = [await makeMarket(), await makeMarket()];
  const [ann, bob, cem, dan] = await makeTraders(4);
  await rest(one, ann, buy("no", 5, 50));
  await rest(other, bob, buy("no", 5, 50));
  await run();
  t.deepEqual(await run(), []);
  const early = await inTransaction(exchange, "commit", async (client) => {
    await placeOrders(client, [{ marketId: one, userId: cem, ...buy("yes", 5, 50) }]);
    await place(other, dan, buy("yes", 5, 50));
    return run();
  });
  t.is(early.length, 1);
  await clock.advance(540_000);
  const late = await run();
  t.is(late.length, 1);
  t.true(late[0]! < early[0]!, "the higher key was there first");
  await clock.advance(120_000);
  t.deepEqual(await run(), []);
  t.is(last, early[0]!);
});
