import type { Socket } from "node:net";
import test from "ava";
import pg from "pg";
import type { PoolClient } from "pg";
import { makePool } from "../../src/database/pools.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { freePorts } from "../helpers/processes/free_ports.ts";
import { until } from "../helpers/until.ts";

const LOCK = 7;

/** Over TCP; a socket of the file system has no such limit. */
test("a call loses its locks if its process does not read the answer", async (t) => {
  const port = (await freePorts(1))();
  const programsDirectory = process.env.TEST_POSTGRES_BIN;
  const cluster = await startTemporaryCluster("unread", {
    ...{ database: "postgres", port, settings: { fsync: "off" } },
    ...(programsDirectory && { programsDirectory }),
  });
  const own = new pg.Client({ connectionString: cluster.server.connectionString });
  await own.connect();
  await own.query("create role web login password 'web'");
  const pool = makePool({
    connectionString: `postgres://web:web@127.0.0.1:${port}/postgres`,
    max: 1,
  });
  t.teardown(async () => {
    await pool.end();
    await own.end();
    await cluster.destroy();
  });
  const isHeld = async () => {
    const { rows } = await own.query(
      "select exists (select from pg_locks where locktype = 'advisory' and objid = $1) as held",
      [LOCK],
    );
    return rows[0].held as boolean;
  };

  const client = await pool.connect();
  const { stream } = (client as PoolClient & { connection: { stream: Socket } }).connection;
  stream.pause();
  const answer = t.throwsAsync(
    client.query(
      `with locked as materialized (select pg_advisory_xact_lock(${LOCK}))
       select repeat('x', 1000) from locked, generate_series(1, 100000)`,
    ),
  );
  await until("the lock is held", isHeld);
  await until("the lock is free", async () => !(await isHeld()));
  stream.resume();
  await answer;
  client.release(true);
});
