import { createHash } from "node:crypto";
import type { PoolClient } from "pg";

/** Every row of every table, as text. */
export async function dumpTables(client: PoolClient): Promise<Record<string, string>> {
  return ofEachTable(client, "coalesce(string_agg(t::text, e'\\n' order by t::text), '')");
}

/** A hash of the rows of every table: as `dumpTables`, but quicker. */
export async function fingerprintTables(client: PoolClient): Promise<Record<string, string>> {
  return ofEachTable(client, "concat(count(*), ' ', sum(hashtextextended(t::text, 0)))");
}

async function ofEachTable(client: PoolClient, what: string): Promise<Record<string, string>> {
  const { rows: tables } = await client.query(
    `select c.oid::regclass::text as name
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind = 'r' and pg_get_userbyid(n.nspowner) = 'exchange_owner'
     order by 1`,
  );
  // Ordered, since the parts of a union may be read in parallel.
  const text = `${tables.map(({ name }) => `select '${name}', ${what} from ${name} as t`).join(" union all ")}
     order by 1`;
  // Planning takes longer than reading: a session plans it once.
  const { rows } = await client.query({ name: createHash("md5").update(text).digest("hex"), text });
  return Object.fromEntries(rows.map((row) => Object.values(row)));
}
