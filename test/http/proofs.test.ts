import { randomUUID } from "node:crypto";
import test from "ava";
import { sealAll } from "../helpers/exchange/sealed_history.ts";
import { testService } from "../helpers/http/test_service.ts";
import { pathOf, rootOf } from "../helpers/model/balance_tree.ts";
import { passTime } from "../helpers/pass_time.ts";

/** The last block of sealed history, and proofs of balances. */

const service = testService(test);
const { call } = service;

test.serial("before the first block all fields are null", async (t) => {
  const { status, body } = await call("GET", "/api/v1/proofs/head");
  t.is(status, 200);
  t.deepEqual(body, {
    block: null,
    count: null,
    hash: null,
    previousHash: null,
    sealedThrough: null,
    createdAt: null,
  });
});

test.serial("the head is the last block, for anybody and for caches", async (t) => {
  await service.makeTrader();
  const { pool } = service.database;
  await sealAll(pool, 1);
  passTime(2000);
  const { status, body, headers } = await call("GET", "/api/v1/proofs/head");
  t.is(status, 200);
  t.is(headers.get("cache-control"), "public, s-maxage=5, stale-while-revalidate=10");
  const { rows } = await pool.query(
    `select number as block, row_count as count, encode(hash, 'hex') as hash,
       encode(previous_hash, 'hex') as "previousHash",
       core.iso8601(sealed_through) as "sealedThrough", core.iso8601(created_at) as "createdAt"
     from ledger.blocks order by number desc limit 1`,
  );
  t.deepEqual(body, rows[0]);
  t.true(body.block > 1);
  t.truthy(body.sealedThrough, "the last block leaves nothing");
});

test.serial("before the first proof of balances there is none", async (t) => {
  const { key } = await service.makeTrader();
  const own = await call("GET", "/api/v1/me/proof", { key });
  t.is(own.status, 404);
  t.deepEqual(own.body, { error: "No proof of balances has this account yet" });
  const { status, body } = await call("GET", "/api/v1/proofs/balances");
  t.is(status, 200);
  t.deepEqual(body, { publishedAt: null, root: null, totalCents: null });
});

test.serial("each user gets their own leaf and path, and all the same root", async (t) => {
  const traders = [
    await service.makeTrader({ fundsCents: 12_345 }),
    await service.makeTrader({ fundsCents: 0 }),
    await service.makeTrader(),
  ];
  const { pool } = service.database;
  const { rows } = await pool.query("select * from admin.publish_proof()");
  const later = await service.makeTrader();
  const stored = await pool.query(
    `select public_id as "userId", balance_cents::int as "balanceCents",
       encode(salt, 'hex') as salt
     from ledger.proof_leaves order by leaf_index`,
  );
  const leaves = stored.rows;
  const { hash: root, sumCents: totalCents } = rootOf(leaves);
  t.deepEqual(rows, [{ root, total_cents: totalCents }]);
  passTime(2000);
  const last = (await call("GET", "/api/v1/proofs/balances")).body;
  t.is(last.root, root);
  t.is(last.totalCents, totalCents);
  const funds = [12_345, 0, 1_000_000];
  for (const [i, { userId, key }] of traders.entries()) {
    const leafIndex = leaves.findIndex((leaf) => leaf.userId === userId);
    const { status, body, headers } = await call("GET", "/api/v1/me/proof", { key });
    t.is(status, 200);
    t.is(headers.get("cache-control"), "no-store");
    t.deepEqual(Object.keys(body), [
      ...["publishedAt", "root", "totalCents", "balanceCents", "salt", "leafIndex", "path"],
    ]);
    t.deepEqual(body, {
      ...{ publishedAt: last.publishedAt, root, totalCents, leafIndex },
      ...{ balanceCents: funds[i], salt: leaves[leafIndex].salt, path: pathOf(leaves, leafIndex) },
    });
  }
  t.is((await call("GET", "/api/v1/me/proof", { key: later.key })).status, 404);
  t.is((await call("GET", "/api/v1/me/proof")).status, 401);
  const stranger = await call("GET", "/api/v1/me/proof", { key: `jk_${randomUUID()}` });
  t.is(stranger.status, 401);
});

test.serial("a user of a browser gets it by a session", async (t) => {
  const { userId, key } = await service.makeTrader();
  await service.operate("publish_proof", {});
  const cookie: string = await service.operate("create_session", { user_id: userId });
  const headers = { cookie: `pgmarkets_session=${cookie}` };
  const { token } = (await call("GET", "/api/auth/token", { headers })).body;
  const byToken = await call("GET", "/api/v1/me/proof", { key: token });
  t.is(byToken.status, 200);
  t.deepEqual(byToken.body, (await call("GET", "/api/v1/me/proof", { key })).body);
});
