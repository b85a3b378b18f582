import type { ClientBase } from "pg";
import { durabilityWarning } from "../database/session_settings.ts";
import { note, now, soon, those } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** What PostgreSQL says of itself: settings, connections, replication, archive, vacuum. */

const GB = 1 << 30;
const gigabytes = (bytes: number): string => `${(bytes / GB).toFixed(1)} GB`;

/** Settings of the server, in their base units: bytes or milliseconds, if they have a unit. */
async function readSettings(client: ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select name,
       case
         when unit in ('B', 'kB', '8kB', '16MB', 'MB')
           then (setting::numeric * pg_catalog.pg_size_bytes(
             case when unit = 'B' then '1' when unit ~ '^[0-9]' then unit else '1' || unit end
           ))::text
         else setting
       end as value
     from pg_catalog.pg_settings`,
  );
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export async function lookAtSettings(client: ClientBase): Promise<Finding[]> {
  const settings = await readSettings(client);
  const is = (name: string, value: string): boolean => settings.get(name) === value;
  const bytes = (name: string): number => Number(settings.get(name));
  const unsafe = await durabilityWarning(client);
  const set = (text: string): string => `alter system set ${text}; select pg_reload_conf()`;
  return those(
    unsafe !== undefined &&
      now("settings", unsafe, "set them on: docs/operating/running.md, Settings and sizes"),
    is("autovacuum", "off") && now("settings", "autovacuum is off", set("autovacuum = on")),
    is("track_counts", "off") &&
      now("settings", "track_counts is off: autovacuum does nothing", set("track_counts = on")),
    bytes("shared_buffers") <= 128 * 1024 * 1024 &&
      soon(
        "settings",
        `shared_buffers is ${(bytes("shared_buffers") / 1024 / 1024).toFixed(0)} MB`,
        "alter system set shared_buffers = a quarter of the memory, then restart PostgreSQL",
      ),
    bytes("max_wal_size") < 4 * GB &&
      soon(
        "settings",
        `max_wal_size is ${gigabytes(bytes("max_wal_size"))}`,
        set("max_wal_size = '4GB'"),
      ),
    Number(settings.get("random_page_cost")) > 2 &&
      note(
        "settings",
        `random_page_cost is ${settings.get("random_page_cost") ?? "?"}`,
        set("random_page_cost = 1.1 (on SSDs)"),
      ),
    is("log_lock_waits", "off") &&
      note("settings", "log_lock_waits is off", set("log_lock_waits = on")),
    is("temp_file_limit", "-1") &&
      note(
        "settings",
        "temp_file_limit is not set: a query can fill the disk",
        set("temp_file_limit = '2GB'"),
      ),
  );
}

export async function lookAtConnections(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ used: number; most: number; encrypted: boolean | null }>(
    `select
       (select sum(numbackends) from pg_catalog.pg_stat_database)::int as used,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         as most,
       case
         when inet_client_addr() is null or inet_client_addr() <<= '127.0.0.0/8'
           or inet_client_addr() = '::1' then null
         else (select ssl from pg_catalog.pg_stat_ssl where pid = pg_backend_pid())
       end as encrypted`,
  );
  const { used = 0, most = 1, encrypted = null } = rows[0] ?? {};
  return those(
    used > most * 0.8 &&
      soon(
        "connections",
        `${used} of ${most} connections are used`,
        "raise max_connections, or give processes a smaller POOL_SIZE",
      ),
    encrypted === false &&
      soon(
        "connections",
        "the connection to the database is not encrypted",
        "set ssl = on at the server, and sslmode=verify-full in the connection strings",
      ),
  );
}

/** Logins that may become a role of the exchange. */
const loginsOfService = `pg_catalog.pg_roles as r
     where r.rolcanlogin and exists (
       select from pg_catalog.pg_roles as g
       where g.rolname in (
           'exchange_owner', 'exchange_api', 'exchange_worker', 'exchange_operator',
           'exchange_analyst'
         )
         and pg_catalog.pg_has_role(r.oid, g.oid, 'member')
     )`;

/**
 * Whether sessions of another login would lose acknowledged orders: this one does not have its
 * settings. Those of a login in this database win over those of the login, and these over those of
 * the database and of all.
 */
export async function lookAtDurability(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ names: string | null }>(
    `select string_agg(r.rolname, ', ' order by r.rolname) as names
     from ${loginsOfService}
       and (
         select split_part(c.assignment, '=', 2)
         from pg_catalog.pg_db_role_setting as s, unnest(s.setconfig) as c (assignment)
         where s.setrole in (0, r.oid)
           and s.setdatabase in (
             0, (select oid from pg_catalog.pg_database where datname = current_database())
           )
           and c.assignment ~* '^synchronous_commit='
         order by s.setrole = 0, s.setdatabase = 0
         limit 1
       ) ~* case current_setting('synchronous_standby_names')
         when '' then '^(off|false|no|0)$'
         else '^(off|false|no|0|local|remote_write)$'
       end`,
  );
  const names = rows[0]?.names ?? null;
  return those(
    names !== null &&
      now(
        "durability",
        `acknowledged orders can be lost: synchronous_commit is not on for ${names}`,
        "see pg_db_role_setting; alter role ... reset synchronous_commit, alter database alike",
      ),
  );
}

/** Those are not among the limits: pg_rewind, monitoring, backups, people. */
const CONNECTIONS_OF_OTHERS = 20;

/** Whether sessions of the service that wait for a standby leave connections to others. */
export async function lookAtLimits(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ unlimited: string | null; sum: number; most: number }>(
    `select
       string_agg(r.rolname, ', ' order by r.rolname) filter (where r.rolconnlimit < 0) as unlimited,
       coalesce(sum(r.rolconnlimit) filter (where r.rolconnlimit > 0), 0)::int as sum,
       current_setting('max_connections')::int
         - current_setting('superuser_reserved_connections')::int as most
     from ${loginsOfService} and not r.rolsuper`,
  );
  const { unlimited = null, sum = 0, most = 0 } = rows[0] ?? {};
  return those(
    unlimited !== null &&
      soon(
        "limits",
        `logins without a connection limit: ${unlimited}`,
        "alter role ... connection limit: docs/operating/running.md, Limits of logins",
      ),
    sum + CONNECTIONS_OF_OTHERS > most &&
      soon(
        "limits",
        `the limits of logins add up to ${sum} of ${most} connections`,
        "raise max_connections, or lower the limits: docs/operating/running.md, Limits of logins",
      ),
  );
}

/** Transactions that hold up vacuum, and the age of transaction ids. */
export async function lookAtVacuum(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ age: number; longest: number | null; prepared: number }>(
    `select
       (select age(datfrozenxid) from pg_catalog.pg_database where datname = current_database())
         as age,
       (select extract(epoch from clock_timestamp() - min(xact_start))::int
        from pg_catalog.pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()) as longest,
       (select count(*)::int from pg_catalog.pg_prepared_xacts) as prepared`,
  );
  const { age = 0, longest = null, prepared = 0 } = rows[0] ?? {};
  return those(
    age > 1_000_000_000 &&
      now(
        "vacuum",
        `the oldest transaction id is ${age} transactions old`,
        "find what holds up vacuum: old transactions, replication slots, prepared transactions",
      ),
    (longest ?? 0) > 3600 &&
      soon(
        "vacuum",
        `a transaction has been open for ${longest ?? 0} s`,
        "end it (pg_stat_activity): in its database, vacuum removes nothing that is younger",
      ),
    prepared > 0 &&
      soon(
        "vacuum",
        `${prepared} prepared transactions`,
        "the exchange makes none: see pg_prepared_xacts",
      ),
  );
}

interface Replication {
  wanted: string;
  synchronous: number;
  hidden: number;
  waits: number | null;
  lag: number | null;
  inactive: string | null;
  kept: number | null;
  is_bounded: boolean;
}

export async function lookAtReplication(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<Replication>(
    `select
       current_setting('synchronous_standby_names') as wanted,
       (select count(*)::int from pg_catalog.pg_stat_replication
        where sync_state in ('sync', 'quorum')) as synchronous,
       (select count(*)::int from pg_catalog.pg_stat_replication where sync_state is null)
         as hidden,
       (select max(extract(epoch from clock_timestamp() - query_start))::float8
        from pg_catalog.pg_stat_activity where wait_event = 'SyncRep') as waits,
       (select max(extract(epoch from replay_lag))::float8 from pg_catalog.pg_stat_replication)
         as lag,
       (select string_agg(slot_name, ', ') from pg_catalog.pg_replication_slots where not active)
         as inactive,
       (select max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::float8
        from pg_catalog.pg_replication_slots where not active) as kept,
       current_setting('max_slot_wal_keep_size') <> '-1' as is_bounded
     where not pg_catalog.pg_is_in_recovery()`,
  );
  const [found] = rows;
  // A standby waits for nobody.
  if (found === undefined) return [];
  const { wanted, synchronous, hidden, waits, lag, inactive, kept, is_bounded: isBounded } = found;
  const isAlone = wanted !== "" && synchronous + hidden === 0;
  return those(
    hidden > 0 &&
      note(
        "standby",
        "the state of the standbys is not shown to this login",
        "run the doctor as a member of pg_monitor",
      ),
    isAlone &&
      now(
        "standby",
        "commits wait for a standby, and none is connected",
        "start a standby; until then no order is answered",
      ),
    !isAlone &&
      (waits ?? 0) > 10 &&
      now(
        "standby",
        `commits wait for a standby, for ${(waits ?? 0).toFixed(0)} s`,
        "start those that synchronous_standby_names asks for, or ask for fewer",
      ),
    wanted === "" &&
      soon(
        "standby",
        "there is no synchronous standby",
        "a lost disk loses all since the last archived segment: docs/operating/standbys.md, Standby and failover",
      ),
    (lag ?? 0) > 10 &&
      soon(
        "standby",
        `a standby is ${(lag ?? 0).toFixed(0)} s behind`,
        "see its disk and its network",
      ),
    inactive !== null &&
      soon(
        "slots",
        `unused replication slots (${inactive}) keep ${gigabytes(kept ?? 0)} of WAL`,
        "start their standbys, or pg_drop_replication_slot",
      ),
    !isBounded &&
      note(
        "slots",
        "max_slot_wal_keep_size is not set: a slot can fill the disk",
        "alter system set max_slot_wal_keep_size = '20GB'; select pg_reload_conf()",
      ),
  );
}

/** Whether the WAL is archived. What is backed up, only the tool of the backups knows. */
export async function lookAtArchive(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ mode: string; failing: boolean; wal: string | null }>(
    `select
       current_setting('archive_mode') as mode,
       coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing,
       last_failed_wal as wal
     from pg_catalog.pg_stat_archiver`,
  );
  const { mode = "off", failing = false, wal = null } = rows[0] ?? {};
  return those(
    mode === "off" &&
      soon(
        "backup",
        "the WAL is not archived",
        "set up pgBackRest (deploy/pgbackrest), or archive_command: docs/operating/backup.md, Backup",
      ),
    failing &&
      now(
        "backup",
        `the archive does not take ${wal ?? "a segment"}`,
        "see the log of PostgreSQL: until it does, the disk of the WAL fills",
      ),
  );
}

/**
 * Whether a restore has left its settings in a primary. A copy by pg_basebackup takes along those of
 * `alter system`, among which is all that pgBackRest writes. A restore_command of the other files
 * may be one of all nodes.
 */
export async function lookAtRestore(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ names: string | null }>(
    `select string_agg(name, ', ' order by name) as names
     from pg_catalog.pg_settings
     where not pg_catalog.pg_is_in_recovery()
       and not pending_restart
       and setting <> ''
       and (
         name in (
           'recovery_target', 'recovery_target_lsn', 'recovery_target_name', 'recovery_target_time',
           'recovery_target_xid'
         )
         or name = 'restore_command' and sourcefile like '%/postgresql.auto.conf'
       )`,
  );
  const names = rows[0]?.names ?? null;
  return those(
    names !== null &&
      soon(
        "restore",
        `a restore has left its settings: ${names}`,
        "take them out where they are set, of postgresql.auto.conf by alter system reset: docs/operating/backup.md, Restore to a moment",
      ),
  );
}
