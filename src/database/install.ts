import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { hasCode } from "../has_code.ts";
import { version } from "../version.ts";
import {
  dropObjects,
  findMissing,
  findObjects,
  findOld,
  findUndeclared,
  readFunctions,
} from "./objects.ts";
import type { DatabaseObject, FunctionRow } from "./objects.ts";
import { haveTheirGrants } from "./missing_roles.ts";
import { untilLocked } from "./missed_locks.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { describeFailure, installedFiles } from "./schema_files.ts";
import type { InstalledFile, InstalledFiles } from "./schema_files.ts";

/**
 * Puts functions, views, types of arguments, comments and grants in place, from db/. It is one
 * transaction, so a database has those of one version. Objects that db/ no longer declares are
 * dropped.
 *
 * A call of a server or a worker is one statement, which locks installer.installations before it
 * looks up a function (call.ts). The transaction takes that lock alone, and then commits. So it
 * waits for the calls under way, and new ones wait for its commit: no call meets functions of two
 * versions.
 *
 * Calls and other sessions also hold locks of views. So the locks of a transaction that replaces
 * views come first, that of the calls before all others (lockViews). One that drops a function takes
 * that of the calls before. One that does neither takes it last of all, and they wait for a moment.
 */

const POLL_MS = 100;

/**
 * How long the transaction waits for locks. It is half of deadlock_timeout: a session that waits for
 * the transaction looks for a deadlock only when the transaction no longer waits for others.
 */
const LOCK_TIMEOUT_MS = 500;

/** A change that `create or replace` can't make: of a result, of names, of columns. */
const needsDrop = ["42P13", "42P16", "42809"];

/** Returns whether there was something to do. Only one process may do this at a time. */
export async function installFunctions(
  client: ClientBase,
  log: (message: string) => void,
): Promise<boolean> {
  const wanted = installedFiles();
  const server = await majorVersion(client);
  const { rows } = await client.query<{ version: string; hash: string; server: number }>(
    `select version, hash, server_version as server
     from installer.installations
     order by id desc
     limit 1`,
  );
  const [last] = rows;
  if (last !== undefined && isLater(last.version, version)) {
    throw new DatabaseNotReadyError(
      `The functions of the database are of version ${last.version}, which is later than ${version}`,
      { reason: "migrations_unknown" },
    );
  }
  const isInPlace = last?.hash === wanted.hash && last.server === server;
  if (isInPlace && (await haveTheirGrants(client))) return false;
  await untilLocked("installation of functions", log, async () => {
    await waitForCallsUnderWay(client, log);
    await client.query("begin");
    try {
      await client.query("set local role exchange_owner");
      await putInPlace(client, wanted);
      await client.query(
        `insert into installer.installations (version, hash, server_version) values ($1, $2, $3)`,
        [version, wanted.hash, server],
      );
      await lockCalls(client);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    }
  });
  return true;
}

async function majorVersion(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major",
  );
  return rows[0]?.major ?? 0;
}

function isLater(one: string, other: string): boolean {
  return one.localeCompare(other, "en", { numeric: true }) > 0;
}

/**
 * A call that takes long, such as a verification of the ledger, would make all others wait behind
 * the lock that is asked for. So those that have begun are waited for without asking.
 */
async function waitForCallsUnderWay(
  client: ClientBase,
  log: (message: string) => void,
): Promise<void> {
  const read = async (): Promise<Set<string>> => {
    const { rows } = await client.query<{ call: string }>(
      `select l.virtualtransaction as call
       from pg_locks as l
       where l.relation = 'installer.installations'::regclass and l.granted
         and l.database = (select d.oid from pg_database as d where d.datname = current_database())`,
    );
    return new Set(rows.map(({ call }) => call));
  };
  let waitedFor = await read();
  for (let polls = 0; waitedFor.size > 0; polls += 1) {
    if (polls === 10) log(`waiting for ${waitedFor.size} call(s) of servers or workers to end`);
    await delay(POLL_MS);
    const present = await read();
    waitedFor = new Set([...waitedFor].filter((call) => present.has(call)));
  }
}

/** Puts all files in place, in their order, and notes what the schema is then. */
async function putInPlace(client: ClientBase, { files, schemas }: InstalledFiles): Promise<void> {
  const before = await readFunctions(client, schemas);
  const { rows } = await client.query<{ path: string; hash: string }>(
    "select path, hash from installer.files",
  );
  const hashes = new Map(rows.map(({ path, hash }) => [path, hash]));
  const declared = files.flatMap(({ kind, name, sql }) =>
    kind === "types" ? typesOf(sql) : (name ?? []),
  );
  const isChanged = ({ path, hash }: InstalledFile): boolean => hashes.get(path) !== hash;
  const changedViews = files.filter((file) => file.kind === "view" && isChanged(file));
  await lockViews(client, [
    ...(await findObjects(
      client,
      changedViews.flatMap(({ name }) => name ?? []),
    )),
    ...(await findUndeclared(client, schemas, declared)),
  ]);
  for (const file of files) {
    if (file.kind === "grants") continue;
    await atFile(file, () =>
      putFile(client, file, { before, schemas, isChanged: isChanged(file) }),
    );
  }
  await drop(client, schemas, [
    ...(await findOld(client, schemas, before)),
    ...(await findUndeclared(client, schemas, declared)),
  ]);
  const missing = await findMissing(client, declared);
  if (missing.length > 0) {
    throw new Error(`${missing.join(", ")}: built on what db/ does not declare any more`);
  }
  for (const file of files) {
    if (file.kind !== "grants") continue;
    await revokeGrants(client, schemas);
    await atFile(file, () => client.query(file.sql));
  }
  await client.query("delete from installer.files");
  await client.query(noteObjects);
  await client.query(
    "insert into installer.files (path, hash) select * from unnest($1::text[], $2::text[])",
    [files.map(({ path }) => path), files.map(({ hash }) => hash)],
  );
}

/**
 * Locks these views, and the calls before. All waits together last as long as one: a session that
 * waits for the first view can't have waited longer when the last one is locked.
 */
async function lockViews(client: ClientBase, objects: DatabaseObject[]): Promise<void> {
  await setLockTimeout(client, LOCK_TIMEOUT_MS);
  const { rows } = await client.query<{ statement: string }>(
    // `lock table` would also lock the tables that a view reads.
    `select format('alter view %s owner to exchange_owner', c.oid::regclass) as statement
     from pg_class as c
     where c.oid = any ($1) and c.relkind = 'v'
     order by c.oid`,
    [objects.filter(({ catalogue }) => catalogue === "pg_class").map(({ oid }) => oid)],
  );
  if (rows.length === 0) return;
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  await lockCalls(client);
  for (const { statement } of rows) {
    await setLockTimeout(client, deadline - performance.now());
    await client.query(statement);
  }
  await setLockTimeout(client, LOCK_TIMEOUT_MS);
}

async function setLockTimeout(client: ClientBase, ms: number): Promise<void> {
  // 0 would be no limit.
  await client.query(`set local lock_timeout = ${Math.max(1, Math.ceil(ms))}`);
}

/** Waits for the calls under way. New ones wait for the end of the transaction. */
async function lockCalls(client: ClientBase): Promise<void> {
  await client.query("lock table installer.installations in access exclusive mode");
}

/** Drops objects; views may be among what depends on them, which calls read. */
async function drop(
  client: ClientBase,
  schemas: string[],
  objects: DatabaseObject[],
): Promise<void> {
  if (objects.length > 0) await lockCalls(client);
  await dropObjects(client, schemas, objects);
}

/** Notes what the schema is, for `installer.changed_objects()`. */
export const noteObjects = `
  delete from installer.objects;
  insert into installer.objects (kind, name, hash)
  select o.kind, o.name, md5(o.definition) from installer.schema_objects() as o`;

interface FileState {
  /** All functions, as they were before. */
  before: FunctionRow[];
  schemas: string[];
  isChanged: boolean;
}

/**
 * Functions are always put in place, which locks nothing that calls need. So a function whose row
 * in pg_proc is as before is not declared any more, or has other arguments now.
 */
async function putFile(client: ClientBase, file: InstalledFile, state: FileState): Promise<void> {
  const { before, isChanged, schemas } = state;
  const existed = before.filter(({ name }) => name === file.name);
  switch (file.kind) {
    case "function":
      if (!isChanged || existed.length === 0) await client.query(file.sql);
      else {
        await replace(client, file, schemas);
        await drop(client, schemas, await findOld(client, schemas, existed));
      }
      return;
    case "view":
      // It would lock the view, and wait for all who read it.
      if (isChanged || (await findObjects(client, [file.name ?? ""])).length === 0)
        await replace(client, file, schemas);
      return;
    case "types": {
      const names = typesOf(file.sql);
      const found = await findObjects(client, names);
      if (!isChanged && found.length === names.length) return;
      await drop(client, schemas, found);
      await client.query(file.sql);
      return;
    }
    case "comments":
    case "grants":
      if (isChanged) await client.query(file.sql);
  }
}

/** Replaces a function or a view; where that can't be, what depends on it goes and comes again. */
async function replace(client: ClientBase, file: InstalledFile, schemas: string[]): Promise<void> {
  await client.query("savepoint before_file");
  try {
    await client.query(file.sql);
  } catch (error) {
    if (!hasCode(error, ...needsDrop)) throw error;
    await client.query("rollback to before_file");
    await drop(client, schemas, await findObjects(client, [file.name ?? ""]));
    await client.query(file.sql);
  }
  await client.query("release before_file");
}

async function atFile(file: InstalledFile, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof DatabaseNotReadyError) throw error;
    const { code } = error as { code?: string };
    throw Object.assign(new Error(describeFailure(file, error), { cause: error }), { code });
  }
}

const typesOf = (sql: string): string[] =>
  [...sql.matchAll(/^create type (\w+\.\w+) as \(/gm)].map(([, name = ""]) => name);

/** Takes from our roles what grants.sql gives anew. Grants to other roles stay. */
async function revokeGrants(client: ClientBase, schemas: string[]): Promise<void> {
  const { rows } = await client.query<{ roles: string }>(
    `select string_agg(rolname, ', ') as roles from pg_roles
     where rolname in ('exchange_api', 'exchange_worker', 'exchange_operator', 'exchange_analyst')`,
  );
  const from = `from ${rows[0]?.roles ?? ""}`;
  const list = schemas.join(", ");
  await client.query(
    `revoke all on all functions in schema ${list} ${from};
     revoke all on all tables in schema ${list} ${from};
     revoke all on schema ${list} ${from}`,
  );
}
