import test from "ava";
import { sealAll } from "../helpers/exchange/sealed_history.ts";
import { testService } from "../helpers/http/test_service.ts";
import { passTime } from "../helpers/pass_time.ts";

/** GET /api/v1/proofs/head: the last block of sealed history. */

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
