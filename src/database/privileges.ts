import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { ClientBase, Pool } from "pg";
import { singleFlight } from "../single_flight.ts";

/** A right in the database that more logins have than need it. */
export interface PrivilegeWarning {
  name: (typeof NAMES)[number];
  /** For the operator: what is wrong, and the statement that repairs it. */
  message: string;
}

const NAMES = [
  "strong_roles",
  "temporary_objects",
  "connections",
  "not_locked_down",
  "foreign_owner",
] as const;

interface Privileges {
  database: string;
  strong_roles: string | null;
  temporary: boolean;
  connect: boolean;
  locks: boolean;
  foreign_owners: string | null;
}

/** Reads catalogs that every login may read. Qualified names keep schemas of the login out. */
const QUERY = `
  select
    pg_catalog.quote_ident(d.datname) as database,
    (
      select pg_catalog.string_agg(s.name, ', ' order by s.name)
      from (
        select r.rolname::pg_catalog.text as name
        from pg_catalog.pg_roles as r
        where r.rolname in (
            'exchange_owner', 'exchange_api', 'exchange_worker', 'exchange_operator',
            'exchange_analyst'
          )
          and (
            r.rolcanlogin or r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolbypassrls
            or r.rolreplication
            or exists (select from pg_catalog.pg_auth_members as m where m.member = r.oid)
          )
      ) as s
    ) as strong_roles,
    a.temporary,
    a.connect,
    exists (
      select
      from pg_catalog.pg_proc as p
      cross join pg_catalog.aclexplode(
        coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
      ) as x
      where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
        -- What migrate/lock_down.sql revokes.
        and (
          p.proname ~ '^pg_(try_)?advisory_'
          or p.proname ~ '^lo_' or p.proname in ('loread', 'lowrite')
          or p.proname = 'pg_logical_emit_message'
        )
        and x.grantee = 0
    ) as locks,
    (
      select pg_catalog.string_agg(
        distinct pg_catalog.quote_ident(r.rolname), ', ' order by pg_catalog.quote_ident(r.rolname)
      )
      from pg_catalog.pg_proc as p
      join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
      join pg_catalog.pg_roles as r on r.oid = p.proowner
      where n.nspname in ('api', 'admin', 'jobs')
        and r.rolname <> 'exchange_owner'
    ) as foreign_owners
  from pg_catalog.pg_database as d
  cross join lateral (
    select
      coalesce(pg_catalog.bool_or(x.privilege_type = 'TEMPORARY'), false) as temporary,
      coalesce(pg_catalog.bool_or(x.privilege_type = 'CONNECT'), false) as connect
    from pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) as x
    where x.grantee = 0
  ) as a
  where d.datname = pg_catalog.current_database()`;

/** Rights that too many logins have. The exchange is safe with them, by one layer less. */
export async function findPrivilegeWarnings(
  database: Pool | ClientBase,
): Promise<PrivilegeWarning[]> {
  const { rows } = await database.query<Privileges>(QUERY);
  const [found] = rows;
  if (found === undefined) return [];
  const warnings: (PrivilegeWarning | false)[] = [
    found.strong_roles !== null && {
      name: "strong_roles",
      message:
        `Roles of the exchange have rights that they must not have: ${found.strong_roles}. ` +
        "Take LOGIN, SUPERUSER, CREATEROLE, CREATEDB, BYPASSRLS, REPLICATION and memberships from them",
    },
    found.temporary && {
      name: "temporary_objects",
      message:
        "Every login may make temporary objects in the database. Its owner should run: " +
        `revoke temporary on database ${found.database} from public`,
    },
    found.connect && {
      name: "connections",
      message:
        "Every login of the cluster may connect to the database. Its owner should run: " +
        `revoke connect on database ${found.database} from public, and grant it to our roles: ` +
        "docs/operating/install.md",
    },
    found.locks && {
      name: "not_locked_down",
      message:
        "Every login that may connect can take the locks of all markets, store large objects, or " +
        "write into the WAL. A superuser should run migrate/lock_down.sql once",
    },
    found.foreign_owners !== null && {
      name: "foreign_owner",
      message:
        `Functions of the exchange belong to ${found.foreign_owners}, and run with its rights. ` +
        "Restore the dump again without --no-owner, into a new database. Only where that is the " +
        "login for migrations, this repairs it, too: " +
        `reassign owned by ${found.foreign_owners} to exchange_owner`,
    },
  ];
  return warnings.filter((warning) => warning !== false);
}

/** A server and a worker may share a process, which then warns once. */
const warnedOf = new Set<string>();

/** Prints each warning once at the start of a process. Without an answer it prints none. */
export async function warnOfPrivileges(
  database: Pool | ClientBase,
  warn: (message: string) => void,
): Promise<void> {
  const warnings = await findPrivilegeWarnings(database).catch(() => []);
  for (const { message } of warnings) {
    if (!warnedOf.has(message)) warn(message);
    warnedOf.add(message);
  }
}

const lockDownScript = join(import.meta.dirname, "../../migrate/lock_down.sql");

/** Revokes what only a superuser can revoke, by the script that a DBA runs elsewhere. */
export async function lockDown(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(await readFile(lockDownScript, "utf8"));
  } finally {
    await client.end();
  }
}

/** Privileges change rarely, so the database is asked this often at most. */
const ANSWER_HOLDS_FOR_MS = 30_000;

/** Finds rights that too many logins have, for monitoring. */
export interface PrivilegeCheck {
  read: () => Promise<PrivilegeWarning[]>;
}

/** Checks the database of this pool. Without an answer, the last result holds. */
export function createPrivilegeCheck(pool: Pool): PrivilegeCheck {
  let warnings: PrivilegeWarning[] = [];
  const check = async (): Promise<PrivilegeWarning[]> =>
    (warnings = await findPrivilegeWarnings(pool).catch(() => warnings));
  return { read: singleFlight(check, ANSWER_HOLDS_FOR_MS) };
}

/** Shows the warnings to monitoring. */
export function gaugePrivilegeWarnings(registry: Registry, { read }: PrivilegeCheck): void {
  new Gauge({
    name: "pgmarkets_privilege_warnings",
    help: "1 for each right in the database that more logins have than need it",
    labelNames: ["warning"],
    registers: [registry],
    async collect() {
      const found = new Set<string>((await read()).map(({ name }) => name));
      for (const warning of NAMES) this.set({ warning }, found.has(warning) ? 1 : 0);
    },
  });
}
