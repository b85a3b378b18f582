import test from "ava";
import type { PoolClient } from "pg";
import { rowsRead } from "../../helpers/database/plans.ts";
import { inTransaction } from "../../helpers/exchange/held_locks.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { pathOf, rootOf, treeOf } from "../../helpers/model/balance_tree.ts";
import type { Leaf } from "../../helpers/model/balance_tree.ts";
import { randomFrom } from "../../helpers/random.ts";

/** Proofs of balances, against a tree that is computed here from the documented encoding. */

const exchange = testExchange(test);

interface Published {
  root: string;
  total: number;
  leaves: (Leaf & { version: number })[];
  nodes: { hash: string; sumCents: number }[][];
}

async function publish(client: PoolClient): Promise<{ root: string; total: number }> {
  const { rows } = await client.query("select * from admin.publish_proof()");
  return { root: rows[0].root, total: Number(rows[0].total_cents) };
}

/** Publishes, and reads the tables. */
async function published(client: PoolClient): Promise<Published> {
  const { root, total } = await publish(client);
  const { rows: leaves } = await client.query(
    `select leaf_index, public_id, balance_cents, account_version, encode(salt, 'hex') as salt
     from ledger.proof_leaves order by leaf_index`,
  );
  const { rows: stored } = await client.query(
    `select level, position, encode(hash, 'hex') as hash, sum_cents
     from ledger.proof_nodes order by level, position`,
  );
  const nodes: Published["nodes"] = [[]];
  for (const { level, position, hash, sum_cents } of stored) {
    if (nodes.length <= level) nodes.push([]);
    nodes[level]![Number(position)] = { hash, sumCents: Number(sum_cents) };
  }
  return {
    ...{ root, total, nodes },
    leaves: leaves.map((row) => ({
      userId: row.public_id,
      balanceCents: Number(row.balance_cents),
      version: Number(row.account_version),
      salt: row.salt,
    })),
  };
}

async function readProof(client: PoolClient, user: string): Promise<any> {
  const { rows } = await client.query("select api.get_own_proof($1) as proof", [user]);
  return rows[0].proof;
}

const verify = async (client: PoolClient) =>
  (await client.query("select * from ledger.verify_proof()")).rows;

/** In a transaction that is rolled back: so many users, with random cash that came from outside. */
const withUsers = <T>(count: number, work: (client: PoolClient, users: string[]) => Promise<T>) =>
  exchange.withRollback(async (client) => {
    const random = randomFrom(`${count} users`);
    const users: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const { rows } = await client.query("select admin.create_user($1, 'A user', $2) as id", [
        `proof-${i}@test.example`,
        `proof-${i}`,
      ]);
      users.push(rows[0].id);
      const cents = random.chance(0.3) ? 0 : random.between(1, 1_000_000);
      if (cents > 0) {
        await client.query("select admin.deposit($1, $2, 'a')", [rows[0].id, cents]);
      }
    }
    return await work(client, users);
  });

for (const count of [0, 1, 2, 3, 5, 8, 100]) {
  test.serial(`a tree over ${count} users is that of the model, and so is each path`, async (t) => {
    await withUsers(count, async (client, users) => {
      const { root, total, leaves, nodes } = await published(client);
      const { rows } = await client.query(
        "select public_id, greatest(balance_cents, 0) as cents from trading.traders",
      );
      t.deepEqual(
        Object.fromEntries(leaves.map(({ userId, balanceCents }) => [userId, balanceCents])),
        Object.fromEntries(rows.map((row) => [row.public_id, Number(row.cents)])),
      );
      t.is(leaves.length, count);
      t.deepEqual(nodes, treeOf(leaves));
      t.deepEqual({ hash: root, sumCents: total }, rootOf(leaves));
      t.is(new Set(leaves.map(({ salt }) => salt)).size, count);
      for (const [index, { userId, balanceCents, salt }] of leaves.entries()) {
        const { publishedAt, ...proof } = await readProof(client, userId);
        t.true(Number.isFinite(Date.parse(publishedAt)));
        t.deepEqual(proof, {
          ...{ root, totalCents: total, balanceCents, salt, leafIndex: index },
          path: pathOf(leaves, index),
        });
      }
      t.is(users.length, count);
      t.deepEqual(await verify(client), []);
    });
  });
}

test.serial("any change of one balance, salt, user or place changes the root", async (t) => {
  await withUsers(13, async (client) => {
    const { root, ...found } = await published(client);
    const leaves: Leaf[] = found.leaves;
    for (const [index, leaf] of leaves.entries()) {
      const changes: Leaf[] = [
        { ...leaf, balanceCents: leaf.balanceCents + 1 },
        { ...leaf, salt: leaf.salt.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) },
        { ...leaf, userId: leaf.userId.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) },
      ];
      for (const changed of changes) t.not(rootOf(leaves.with(index, changed)).hash, root);
      const other = (index + 1) % leaves.length;
      t.not(rootOf(leaves.with(index, leaves[other]!).with(other, leaf)).hash, root);
    }
    t.not(rootOf([...leaves, leaves.at(-1)!]).hash, root, "the odd leaf cannot be doubled");
  });
});

test.serial(
  "a second proof of the same moment has the same total, other salts and another order",
  async (t) => {
    await withUsers(40, async (client) => {
      const first = await published(client);
      const second = await published(client);
      t.is(second.total, first.total);
      t.not(second.root, first.root);
      const salts = new Set(first.leaves.map(({ salt }) => salt));
      t.true(second.leaves.every(({ salt }) => !salts.has(salt)));
      const users = ({ leaves }: Published) => leaves.map(({ userId }) => userId);
      t.notDeepEqual(users(second), users(first));
      t.deepEqual(users(second).sort(), users(first).sort());
      const { rows } = await client.query(
        "select encode(root, 'hex') as root from ledger.balance_proofs order by id",
      );
      t.deepEqual(
        rows.map((row) => row.root),
        [first.root, second.root],
      );
      const { rows: last } = await client.query("select api.get_balance_proof() as proof");
      t.is(last[0].proof.root, second.root);
      t.deepEqual(await verify(client), []);
    });
  },
);

test.serial("the order is random: a leaf's place says nothing of when its user came", async (t) => {
  await withUsers(60, async (client, users) => {
    const { leaves } = await published(client);
    const placeOf = new Map(leaves.map(({ userId }, index) => [userId, index]));
    let falls = 0;
    for (let i = 1; i < users.length; i += 1) {
      if (placeOf.get(users[i]!)! < placeOf.get(users[i - 1]!)!) falls += 1;
    }
    t.true(falls > 10 && falls < 50, `${falls} of 59 users come before the one that came earlier`);
  });
});

test.serial("a user who owes cash has a leaf of 0, and the debt is beside the total", async (t) => {
  await withUsers(2, async (client, [ann]) => {
    await client.query("select admin.deposit($1, 500, 'charged')", [ann]);
    const { rows } = await client.query(
      "select balance_cents from trading.traders where public_id = $1",
      [ann],
    );
    const before = Number(rows[0].balance_cents);
    if (before > 500) {
      await client.query("select admin.withdraw($1, $2, 'out')", [ann, before - 500]);
    }
    await client.query("select admin.withdraw($1, 200, 'more')", [ann]);
    await client.query("select admin.reverse_deposit('charged', 'charged back')");
    const { leaves, total } = await published(client);
    t.is(leaves.find(({ userId }) => userId === ann)!.balanceCents, 0);
    t.is(
      total,
      leaves.reduce((sum, { balanceCents }) => sum + balanceCents, 0),
    );
    const { rows: proofs } = await client.query("select * from ledger.balance_proofs");
    t.is(Number(proofs[0].receivable_cents), 200);
    t.is(Number(proofs[0].total_cents) - 200, -Number(proofs[0].outside_cents));
    t.deepEqual(await verify(client), []);
  });
});

test.serial("INVALID_STATE: accounts that do not sum to zero are not published", async (t) => {
  await withUsers(1, async (client, [ann]) => {
    await client.query(
      "update trading.traders set balance_cents = balance_cents + 1 where public_id = $1",
      [ann],
    );
    await t.throwsAsync(publish(client), { code: "EX019", message: /sum to 1 cents/ });
  });
});

test.serial("INVALID_STATE: nothing is published while a transaction stays open", async (t) => {
  await inTransaction(exchange, "rollback", async (other) => {
    await other.query("select nextval('ledger.journal_ids')"); // as a trade does
    await withUsers(1, async (client) => {
      await t.throwsAsync(publish(client), { code: "EX019", message: /stays open/ });
    });
  });
});

test.serial("before the first proof, and for a user who came later, there is none", async (t) => {
  await withUsers(1, async (client, [ann]) => {
    t.is(await readProof(client, ann!), null);
    const { rows } = await client.query("select api.get_balance_proof() as proof");
    t.deepEqual(rows[0].proof, { publishedAt: null, root: null, totalCents: null });
    await publish(client);
    t.not(await readProof(client, ann!), null);
    const { rows: later } = await client.query(
      "select admin.create_user('later@test.example', 'Later', 'later') as id",
    );
    t.is(await readProof(client, later[0].id), null);
  });
});

test.serial("no role but the owner reads a leaf, a node or a salt", async (t) => {
  for (const role of [
    "exchange_api",
    "exchange_worker",
    "exchange_operator",
    "exchange_analyst",
  ] as const) {
    for (const table of ["ledger.proof_leaves", "ledger.proof_nodes", "ledger.proof_parents"]) {
      await exchange.withRollback(async (client) => {
        await client.query(`set local role ${role}`);
        await t.throwsAsync(client.query(`select * from ${table}`), { code: "42501" }, role);
      });
    }
    if (role === "exchange_api") continue;
    await exchange.withRollback(async (client) => {
      await client.query(`set local role ${role}`);
      await t.throwsAsync(
        client.query("select api.get_own_proof(gen_random_uuid())"),
        { code: "42501" },
        role,
      );
    });
  }
});

test.serial("the check of a proof reads each trade once", async (t) => {
  const { makeMarket, makeTrader, place, database } = exchange;
  const [market, one, other] = [await makeMarket(), await makeTrader(), await makeTrader()];
  const trades = 30;
  for (let n = 0; n < trades; n += 1) {
    await place(market, one, buy("no", 1, 50));
    await place(market, other, buy("yes", 1, 50));
  }
  await database.pool.query("select admin.publish_proof()");
  await database.pool.query("analyze");
  const read = await rowsRead(database.pool, ["trading.trades"], (client) =>
    client.query("select * from ledger.verify_proof()"),
  );
  t.is(read, trades);
});
