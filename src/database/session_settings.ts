import type { ClientBase, Pool } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";

/**
 * `alter database` and `alter role` may give sessions settings for other users of the database. Each
 * of our sessions sets at its start what affects correctness or speed. What a pooler may drop is
 * checked again.
 */

/** What each of our sessions sets at its start: the defaults of PostgreSQL but for two. */
const pinnedSettings: Record<string, string> = {
  // What a command sees, and whether its constraints and policies hold.
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  row_security: "on",
  // How text is read and written.
  standard_conforming_strings: "on",
  escape_string_warning: "on",
  backslash_quote: "safe_encoding",
  array_nulls: "on",
  transform_null_equals: "off",
  quote_all_identifiers: "off",
  check_function_bodies: "on",
  client_min_messages: "notice",
  // An error ends its statement, not the session.
  exit_on_error: "off",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  bytea_output: "hex",
  extra_float_digits: "1",
  xmlbinary: "base64",
  xmloption: "content",
  // Time limits. Pools set their own.
  statement_timeout: "0",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "0",
  // A call keeps its locks until its answer has been read. The host of its process may be lost.
  tcp_user_timeout: "5s",
  // How statements are planned.
  jit: "off",
  plan_cache_mode: "auto",
  enable_bitmapscan: "on",
  enable_hashagg: "on",
  enable_hashjoin: "on",
  enable_incremental_sort: "on",
  enable_indexonlyscan: "on",
  enable_indexscan: "on",
  enable_material: "on",
  enable_memoize: "on",
  enable_mergejoin: "on",
  enable_nestloop: "on",
  enable_partition_pruning: "on",
  enable_seqscan: "on",
  enable_sort: "on",
  enable_tidscan: "on",
  constraint_exclusion: "partition",
  from_collapse_limit: "8",
  join_collapse_limit: "8",
  geqo: "on",
};

/** Unqualified names mean objects of PostgreSQL itself. */
export const ownSearchPath = { search_path: "pg_catalog, pg_temp" };

/** Settings that only some versions have, so a session can't set them at its start. */
const lateSettings: Record<string, string> = {
  transaction_timeout: "0",
  restrict_nonsystem_relation_kind: "",
};

/** The startup parameter `options` with what every session sets, and with what this one does. */
export function startupOptions(settings: Record<string, string>): string {
  return Object.entries({ ...pinnedSettings, ...settings })
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, "\\$&")}`)
    .join(" ");
}

/** The connection string with these settings, for tools that take no other options. */
export function withStartupOptions(
  connectionString: string,
  settings: Record<string, string>,
): string {
  const [address = "", query] = connectionString.split("?", 2);
  const parameters = new URLSearchParams(query);
  const given = parameters.get("options");
  const own = startupOptions(settings);
  parameters.set("options", given === null ? own : `${given} ${own}`);
  // In a query, some parsers read a plus as a space.
  return `${address}?${parameters.toString().replaceAll("+", "%20")}`;
}

/**
 * Sets what a session can't set at its start, if the server has it. To ask for each setting by its
 * name takes 1 ms less than pg_settings, of 3 ms in which a session starts.
 */
export async function setLateSettings(client: ClientBase): Promise<void> {
  await client.query({
    text: `select pg_catalog.set_config(x.name, x.setting, false)
           from unnest($1::text[], $2::text[]) as x (name, setting)
           where pg_catalog.current_setting(x.name, true) <> x.setting`,
    values: [Object.keys(lateSettings), Object.values(lateSettings)],
  });
}

/** Throws unless the encoding of the database is UTF-8. */
export async function checkEncoding(database: Pool | ClientBase): Promise<void> {
  const { rows } = await database.query<{ encoding: string }>(
    "select pg_catalog.current_setting('server_encoding') as encoding",
  );
  const encoding = rows[0]?.encoding ?? "?";
  if (encoding === "UTF8") return;
  throw new DatabaseNotReadyError(
    `The encoding of the database is ${encoding}: pgmarkets needs UTF8. ` +
      "Make another: create database ... encoding 'UTF8' template template0",
    { reason: "encoding" },
  );
}

/**
 * Throws if the exchange would compute something wrong, or fail, in this session: a pooler may drop
 * startup options, and a superuser may have made other settings.
 */
export async function checkSession(database: Pool | ClientBase): Promise<void> {
  const { rows } = await database.query<{ name: string; setting: string; wanted: string }>(
    `select x.name, pg_catalog.current_setting(x.name) as setting, x.wanted
     from (values
       ('transaction_isolation', 'read committed'),
       ('session_replication_role', 'origin'),
       ('row_security', 'on'),
       ('client_encoding', 'UTF8'),
       ('DateStyle', 'ISO'),
       ('bytea_output', 'hex')
     ) as x (name, wanted)
     where not pg_catalog.starts_with(pg_catalog.current_setting(x.name), x.wanted)`,
  );
  if (rows.length === 0) return;
  const faults = rows.map(({ name, setting, wanted }) => `${name} is ${setting}, not ${wanted}`);
  throw new DatabaseNotReadyError(
    `The sessions of the database login are not fit: ${faults.join("; ")}. ` +
      'See "Settings of sessions" in docs/operating/running.md',
    { reason: "session_settings" },
  );
}

/** A warning for settings under which acknowledged orders can be lost. */
export async function durabilityWarning(database: Pool | ClientBase): Promise<string | undefined> {
  const { rows } = await database.query<{ unsafe: string }>(
    `select x.name || ' is ' || x.setting as unsafe
     from pg_catalog.pg_settings as x
     where x.name in ('fsync', 'full_page_writes', 'synchronous_commit') and x.setting = 'off'
       or x.name = 'synchronous_commit' and x.setting in ('local', 'remote_write')
         and pg_catalog.current_setting('synchronous_standby_names') <> ''`,
  );
  if (rows.length === 0) return undefined;
  return `acknowledged orders can be lost: ${rows.map(({ unsafe }) => unsafe).join(", ")}`;
}
