import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

/** Damage to one kind of row each, and the name of the invariant that finds it. */

const exchange = testExchange(test);
const { giveShares, makeMarket, makeTraders, operate, place, rest, withRollback } = exchange;

let market: string;

test.before("one of everything", async () => {
  market = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  await giveShares(market, ann, "yes", 20);
  await rest(market, bob, buy("yes", 5, 60));
  await place(market, ann, sell("yes", 5, 60));
  const open = await makeMarket();
  await giveShares(open, ann, "no", 3);
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  await operate("refresh_leaderboard");
});

const damages: [statement: string, invariants: string[]][] = [
  [
    "update leaderboard.days set pl_cents = pl_cents + 1 where category_id = 0",
    ["day equals what was realised on it"],
  ],
  ["delete from leaderboard.days", ["day equals what was realised on it"]],
  [
    "update leaderboard.standings set vol_cents = vol_cents + 1",
    ["standing equals what was realised in its window"],
  ],
  [
    "update leaderboard.standings set user_public_id = gen_random_uuid()",
    ["standing equals what was realised in its window"],
  ],
  [
    `delete from leaderboard.standings;
     set local session_replication_role = replica;
     delete from identity.users`,
    ["standing equals what was realised in its window", "summary sums its standings"],
  ],
  [
    "update leaderboard.standings set is_public = false",
    ["standing counts its trader as what they are", "summary sums its standings"],
  ],
  ["update leaderboard.bands set trader_count = trader_count + 1", ["band counts its standings"]],
  ["delete from leaderboard.bands", ["band counts its standings"]],
  [
    "update leaderboard.summaries set volume_cents = volume_cents + 1",
    ["summary sums its standings"],
  ],
  ["delete from leaderboard.summaries", ["summary sums its standings"]],
  [
    "update leaderboard.wins set realised_cents = realised_cents + 1",
    ["win is a settled position"],
  ],
  ["update leaderboard.wins set day = day - 1", ["win is a settled position"]],
  ["delete from leaderboard.wins", ["win is a settled position"]],
  [
    "update leaderboard.markets set escrow_cents = escrow_cents + 1",
    ["escrow is that of its market", "open interest is the escrow of the markets"],
  ],
  [
    "update leaderboard.open_interest set open_interest_cents = 0",
    ["open interest is the escrow of the markets"],
  ],
  [
    "update leaderboard.markets set last_resolution_id = 0",
    [
      "day equals what was realised on it",
      "standing equals what was realised in its window",
      "band counts its standings",
      "summary sums its standings",
      "win is a settled position",
    ],
  ],
  [
    `delete from leaderboard.markets where last_resolution_id = 0;
     update leaderboard.state set after_trade_id = noted_trade_id`,
    ["nothing is passed over", "open interest is the escrow of the markets"],
  ],
];

for (const [statement, invariants] of damages) {
  test.serial(`${statement.slice(0, 70)}: ${invariants[0]!}`, async (t) => {
    await withRollback(async (client) => {
      t.deepEqual((await client.query("select * from leaderboard.verify()")).rows, []);
      await client.query(statement);
      const { rows } = await client.query("select name from leaderboard.verify()");
      const found = new Set(rows.map(({ name }) => name));
      t.deepEqual([...found].sort(), [...invariants].sort());
    });
  });
}

test("every invariant that verify() knows is broken here at least once", async (t) => {
  const { rows } = await exchange.database.pool.query(
    "select prosrc from pg_proc where oid = 'leaderboard.verify()'::regprocedure",
  );
  const known = [...rows[0].prosrc.matchAll(/^ {2}select '([^']+)',/gm)].map(([, name]) => name);
  t.true(known.length >= 9);
  const broken = damages.flatMap(([, invariants]) => invariants);
  t.deepEqual([...new Set(broken)].sort(), known.sort());
});
