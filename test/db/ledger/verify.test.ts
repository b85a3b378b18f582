import test from "ava";
import type { PoolClient } from "pg";
import { sealAll } from "../../helpers/exchange/sealed_history.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { invariantsOf, readProofs } from "../../helpers/database/invariants.ts";
import { readDamages } from "./damages/damage.ts";
import { tradeALittle } from "./damages/history.ts";
import type { Named } from "./damages/history.ts";
import { operateALittle } from "./damages/operations.ts";
import { proposeALittle } from "./damages/proposals.ts";

/** ledger.verify() finds every kind of damage: each is done to a sound database, then undone. */

const exchange = testExchange(test);

let rows: Named;
/** The proof that knows an invariant. */
let proofOf: Map<string, string>;
/** Triggers and foreign keys are out of the way in it. To say so anew would end the plans it keeps. */
let damaging: PoolClient;

test.before("trade a little", async (t) => {
  rows = {
    ...(await tradeALittle(exchange)),
    ...(await operateALittle(exchange)),
    ...(await proposeALittle(exchange)),
  };
  await sealAll(exchange.database.pool, 50);
  const findAll = () => exchange.database.pool.query("select * from ledger.verify()");
  t.deepEqual((await findAll()).rows, []);
  const known = (await proofs()).filter(({ name }) => name !== "ledger.verify");
  proofOf = new Map(
    known.flatMap((proof) => invariantsOf(proof).map((name) => [name, proof.name] as const)),
  );
  damaging = await exchange.database.pool.connect();
  await damaging.query("set session_replication_role = replica");
});
test.after.always("end its session", () => {
  damaging.release(true);
});

/** What the proof of an invariant says after a change. */
async function foundAfter(invariant: string, damage: string): Promise<string[]> {
  const text = damage.replace(/(?<!:):([a-z]\w*)/g, (_, name: string) => {
    if (rows[name] === undefined) throw new Error(`nothing has the name ${name}`);
    return String(rows[name]);
  });
  await damaging.query("begin");
  try {
    const { rowCount } = await damaging.query(text);
    if (rowCount === 0) throw new Error(`nothing was damaged: ${text}`);
    const proof = proofOf.get(invariant)!;
    const whole = proof === "ledger.verify_blocks" ? "true" : "";
    const { rows: found } = await damaging.query(`select * from ${proof}(${whole})`);
    return [...new Set(found.map(({ name }) => name))].sort();
  } finally {
    await damaging.query("rollback");
  }
}

const damages = ["cash", "positions", "orders", "calls"].flatMap(readDamages);

// One after another, since each takes a connection for as long as a proof.
for (const [invariant, damage] of damages) {
  test.serial(
    `${invariant}: broken by ${damage.replace(/\s+/g, " ").slice(0, 120)}...`,
    async (t) => {
      const found = await foundAfter(invariant, damage);
      t.true(found.includes(invariant), found.join(", "));
    },
  );
}

test("balance is not below zero: broken once the table would let it be", async (t) => {
  const found = await exchange.withRollback(async (client) => {
    await client.query(
      "alter table trading.traders drop constraint traders_stay_above_zero_but_for_their_overdraft",
    );
    await client.query("update trading.traders set balance_cents = -1 where user_id = $1", [
      rows.ann,
    ]);
    const { rows: broken } = await client.query(
      "select expected, found from ledger.verify() where name = 'balance is not below zero'",
    );
    return broken;
  });
  t.deepEqual(found, [{ expected: ">= 0", found: "-1" }]);
});

const proofs = () => readProofs(exchange.database.pool);

test("verify() is made of all the proofs", async (t) => {
  const whole = (await proofs()).find(({ name }) => name === "ledger.verify")!;
  const called = [...whole.source.matchAll(/from (\w+\.\w+)\(/g)].map(([, name]) => name);
  const made = (await proofs()).map(({ name }) => name).filter((name) => name !== "ledger.verify");
  t.true(made.length > 5);
  t.deepEqual(called.sort(), made.sort());
});

test("verify() and its parts are stable, and so read the one snapshot of the statement", async (t) => {
  for (const { name, volatility } of await proofs()) t.is(volatility, "s", name);
});

test("every invariant that verify() knows is broken here at least once", async (t) => {
  const known = (await proofs()).flatMap(invariantsOf);
  t.true(known.length > 60);
  const broken = [...damages.map(([name]) => name), "balance is not below zero"];
  t.deepEqual([...new Set(broken)].sort(), known.sort());
});

test("a row has the name of the invariant, the object, the expected and the found value", async (t) => {
  const found = await exchange.withRollback(async (client) => {
    await client.query("set local session_replication_role = replica");
    await client.query("update trading.market_state set traders_count = 9 where market_id = $1", [
      rows.market,
    ]);
    return (await client.query("select * from ledger.verify()")).rows;
  });
  t.deepEqual(found, [
    {
      name: "traders count equals who traded",
      object: `market ${rows.market}`,
      expected: "4",
      found: "9",
    },
  ]);
});

test("one order that is missing is named by the sum of the ids", async (t) => {
  const { expected, found } = await exchange.withRollback(async (client) => {
    await client.query("delete from trading.ended_orders where id = $1", [rows.cancelled]);
    const { rows: broken } = await client.query(
      "select * from ledger.verify() where name = 'orders are those that were placed'",
    );
    t.deepEqual(
      broken.map(({ object }) => object),
      [`market ${rows.market}`],
    );
    return broken[0];
  });
  const idSum = (text: string) => Number(/\d+$/.exec(text)![0]);
  t.is(idSum(expected) - idSum(found), rows.cancelled!);
});
