import type { ClientBase } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";

/** Roles of the exchange that a database had when it was migrated, and that the cluster lacks now. */

/** Their names. None before the first migration, which makes the roles. */
export async function findMissingRoles(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ role: string }>(
    `select r.role
     from unnest(array[
       'exchange_owner', 'exchange_api', 'exchange_worker', 'exchange_operator', 'exchange_analyst'
     ]) as r (role)
     where exists (select from pg_catalog.pg_namespace as n where n.nspname = 'installer')
       and not exists (select from pg_catalog.pg_roles as p where p.rolname = r.role)
     order by r.role`,
  );
  return rows.map(({ role }) => role);
}

/** For the operator: what to do about one of them. */
export const remedyForRoles = (role: string): string =>
  `if it has another name now: alter role ... rename to ${role}. If it was dropped: create role ` +
  `${role} nologin, grant it connect on the database, grant it to its logins, and run npm run migrate`;

/** Throws if roles are missing: nothing can be granted to them. */
export async function checkRoles(client: ClientBase): Promise<void> {
  const roles = await findMissingRoles(client);
  if (roles.length === 0) return;
  throw new DatabaseNotReadyError(
    `The cluster lacks ${roles.join(", ")}: ${remedyForRoles(roles[0] ?? "")}`,
  );
}

/** Whether each role may use its schema. One that was dropped and made again may not. */
export async function haveTheirGrants(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ granted: boolean }>(
    `select bool_and(has_schema_privilege('exchange_' || g.role, g.schema, 'usage')) as granted
     from (
       values ('api', 'api'), ('worker', 'jobs'), ('operator', 'admin'), ('analyst', 'analytics')
     ) as g (role, schema)`,
  );
  return rows[0]?.granted === true;
}
