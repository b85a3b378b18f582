import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { ClientBase, Pool } from "pg";
import { singleFlight } from "../single_flight.ts";

/** Something that the database allows to more people than the exchange needs. */
export interface OpenDoor {
  /** In a word, for monitoring. */
  name: (typeof NAMES)[number];
  /** For the operator: what it is, and the statement that ends it. */
  message: string;
}

const NAMES = ["strong_roles", "temporary_objects", "connections", "not_locked_down"] as const;

interface Privileges {
  database: string;
  strong_roles: string | null;
  temporary: boolean;
  connect: boolean;
  locks: boolean;
}

/** Reads catalogs that every login may read, by names that no schema of the login can stand before. */
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
        and p.proname in (
          'pg_advisory_lock', 'pg_advisory_xact_lock', 'pg_try_advisory_lock', 'lo_create'
        )
        and x.grantee = 0
    ) as locks
  from pg_catalog.pg_database as d
  cross join lateral (
    select
      coalesce(pg_catalog.bool_or(x.privilege_type = 'TEMPORARY'), false) as temporary,
      coalesce(pg_catalog.bool_or(x.privilege_type = 'CONNECT'), false) as connect
    from pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) as x
    where x.grantee = 0
  ) as a
  where d.datname = pg_catalog.current_database()`;

/**
 * What stands open in the database that need not: the exchange is safe without, by one layer less.
 * For whoever starts a process, and for monitoring.
 */
export async function findOpenDoors(database: Pool | ClientBase): Promise<OpenDoor[]> {
  const { rows } = await database.query<Privileges>(QUERY);
  const [found] = rows;
  if (found === undefined) return [];
  const doors: (OpenDoor | false)[] = [
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
        "docs/operating.md",
    },
    found.locks && {
      name: "not_locked_down",
      message:
        "Every login that may connect can take the locks of all markets, and store large objects. " +
        "A superuser should run migrate/lock_down.sql once",
    },
  ];
  return doors.filter((door) => door !== false);
}

/** What this process has warned of: its server and its worker may be one process. */
const warnedOf = new Set<string>();

/** Says at the start of a process what stands open, a line each. That it can't be read is no matter. */
export async function warnOfOpenDoors(
  database: Pool | ClientBase,
  warn: (message: string) => void,
): Promise<void> {
  const doors = await findOpenDoors(database).catch(() => []);
  for (const { message } of doors) {
    if (!warnedOf.has(message)) warn(message);
    warnedOf.add(message);
  }
}

const lockDownScript = join(import.meta.dirname, "../../migrate/lock_down.sql");

/** Closes what only a superuser can close, by the script that a DBA runs elsewhere. */
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

/** What stands open, for those who monitor. */
export interface OpenDoors {
  read: () => Promise<OpenDoor[]>;
}

/** Privileges change rarely: however many ask, the database is asked this often. */
const ANSWER_HOLDS_FOR_MS = 30_000;

/** Looks at the database of this pool when asked; without an answer, what was last found holds. */
export function createOpenDoors(pool: Pool): OpenDoors {
  let doors: OpenDoor[] = [];
  const look = async (): Promise<OpenDoor[]> =>
    (doors = await findOpenDoors(pool).catch(() => doors));
  return { read: singleFlight(look, ANSWER_HOLDS_FOR_MS) };
}

/** Shows what stands open to those who monitor. */
export function gaugeOpenDoors(registry: Registry, openDoors: OpenDoors): void {
  new Gauge({
    name: "pgmarkets_open_doors",
    help: "1 for each right in the database that more logins have than need it",
    labelNames: ["door"],
    registers: [registry],
    async collect() {
      const open = new Set<string>((await openDoors.read()).map(({ name }) => name));
      for (const door of NAMES) this.set({ door }, open.has(door) ? 1 : 0);
    },
  });
}
