import test from "ava";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";

/** Proofs of balances at the same moment as trades, deposits and each other. */

const exchange = testExchange(test, { sessions: 20 });
const { makeMarketWith, operate, place, rest } = exchange;

test.serial("beside trades and deposits each proof is of one moment of the ledger", async (t) => {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  let isOver = false;
  const untilOver = async (work: (round: number) => Promise<unknown>): Promise<number> => {
    let round = 0;
    for (; !isOver; round += 1) await work(round);
    return round;
  };
  const trading = untilOver(async () => {
    await rest(market, ann, buy("no", 1, 50));
    await place(market, bob, buy("yes", 1, 50));
  });
  const paying = untilOver((round) =>
    operate("deposit", { user_id: cid, amount_cents: 100 + round, reference: `beside ${round}` }),
  );
  const { pool } = exchange.database;
  try {
    const totals = new Set<number>();
    for (let i = 0; i < 10; i += 1) {
      totals.add(
        Number((await pool.query("select * from jobs.publish_proof()")).rows[0].total_cents),
      );
      t.deepEqual((await pool.query("select * from ledger.verify_proof()")).rows, []);
    }
    t.true(totals.size > 1, "money moved meanwhile");
  } finally {
    isOver = true;
  }
  t.true((await trading) > 0);
  t.true((await paying) > 0);
  t.deepEqual(await exchange.verify(), []);
});

test.serial("two proofs at the same moment are made one after the other", async (t) => {
  const { pool } = exchange.database;
  const both = await Promise.all(
    [1, 2].map(async () => (await pool.query("select * from jobs.publish_proof()")).rows[0]),
  );
  t.not(both[0].root, both[1].root);
  t.is(both[0].total_cents, both[1].total_cents);
  t.deepEqual((await pool.query("select * from ledger.verify_proof()")).rows, []);
});

test.serial("while a proof is made, an order and a deposit do not wait", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await exchange.withRollback(async (client) => {
    await client.query("select * from admin.publish_proof()");
    // What publish_proof locks is held until here.
    await rest(market, ann, buy("yes", 1, 1));
    await operate("deposit", { user_id: ann, amount_cents: 1, reference: "meanwhile" });
    t.is(await exchange.balance(ann), 100_001);
  });
});
