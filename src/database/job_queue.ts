import { Logger as QueueLogger, runMigrations } from "graphile-worker";
import type { ClientBase, Pool } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { makePool } from "./pools.ts";

/**
 * The queue is graphile-worker's, in a schema of its own. Its tables belong to exchange_owner, as
 * everything does. They have row level security and no policy, so exchange_worker needs both grants
 * and policies.
 */

/**
 * Makes the queue, or brings it up to date. `client` may make schemas and become exchange_owner, and
 * no other process migrates meanwhile.
 */
export async function migrateQueue(client: ClientBase, connectionString: string): Promise<void> {
  const before = await revision(client);
  // `create schema if not exists` always needs a right on the database, which exchange_owner lacks.
  if (before === undefined) await client.query(makeSchema);
  const pool = makePool({
    connectionString,
    role: "exchange_owner",
    applicationName: "pgmarkets migrate",
    max: 1,
  });
  try {
    await runMigrations({ pgPool: pool, logger: silent });
  } finally {
    await pool.end();
  }
  if ((await revision(client)) !== before || !(await mayWork(client))) {
    await client.query(grantToWorkers);
  }
}

/** For workers: rejects a database without a queue. */
export async function checkQueue(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ found: boolean }>(
    "select to_regclass('graphile_worker.migrations') is not null as found",
  );
  if (rows[0]?.found !== true) {
    throw new DatabaseNotReadyError(
      "The database lacks the job queue: run npm run migrate as the owner of the database",
      { reason: "migrations_missing" },
    );
  }
}

const silent = new QueueLogger(() => () => undefined);

async function revision(client: ClientBase): Promise<number | undefined> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    "select to_regclass('graphile_worker.migrations') is not null as exists",
  );
  if (found[0]?.exists !== true) return undefined;
  const { rows } = await client.query<{ id: number | null }>(
    "select max(id) as id from graphile_worker.migrations",
  );
  return rows[0]?.id ?? undefined;
}

/** Not after exchange_worker was dropped and made again. */
async function mayWork(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ granted: boolean }>(
    "select has_schema_privilege('exchange_worker', 'graphile_worker', 'usage') as granted",
  );
  return rows[0]?.granted === true;
}

/** As graphile-worker itself makes it. */
const makeSchema = `
  begin;
  create schema if not exists graphile_worker authorization exchange_owner;
  set local role exchange_owner;
  create table if not exists graphile_worker.migrations (
    id int primary key,
    ts timestamptz default now() not null,
    breaking boolean not null default false
  );
  commit`;

const grantToWorkers = `
  begin;
  set local role exchange_owner;
  grant usage on schema graphile_worker to exchange_worker;
  grant select, insert, update, delete on all tables in schema graphile_worker to exchange_worker;
  revoke insert, update, delete on graphile_worker.migrations from exchange_worker;
  grant usage on all sequences in schema graphile_worker to exchange_worker;
  grant execute on all functions in schema graphile_worker to exchange_worker;
  do $$
  declare
    v_table regclass;
  begin
    for v_table in
      select c.oid
      from pg_catalog.pg_class as c
      where c.relnamespace = 'graphile_worker'::regnamespace
        and c.relrowsecurity
        and not exists (select from pg_catalog.pg_policy as p where p.polrelid = c.oid)
    loop
      execute format(
        'create policy workers on %s to exchange_worker using (true) with check (true)', v_table
      );
    end loop;
  end
  $$;
  commit`;
