import type { Pool, PoolClient } from "pg";
import { readText } from "../repository.ts";

/** The functions of which `ledger.verify()` is made, it included, with their texts. */
export interface Proof {
  name: string;
  source: string;
  /** As in pg_proc: s is stable. */
  volatility: string;
}

/** Reads them from the catalog. */
export async function readProofs(pool: Pool): Promise<Proof[]> {
  const { rows } = await pool.query(
    `select oid::regproc::text as name, prosrc as source, provolatile as volatility
     from pg_proc
     where proname like 'verify%'
       and pronamespace in (
         'admin'::regnamespace, 'catalog'::regnamespace, 'identity'::regnamespace,
         'installer'::regnamespace, 'ledger'::regnamespace, 'risk'::regnamespace, 'trading'::regnamespace
       )`,
  );
  return rows;
}

/** The names of the invariants that a function knows, sorted, each once. */
export function invariantsOf({ source }: Proof): string[] {
  const names = [...source.matchAll(/^ +(?:return query\s+)?select '((?:[^']|'')+)',/gm)].map(
    ([, name]) => name!.replaceAll("''", "'"),
  );
  return [...new Set(names)].sort();
}

const parts = [
  ...readText("db/ledger/functions/verify.sql").matchAll(/select \* from \w+\.\w+\([\w."]*\)/g),
].map(([part]) => part.replace('verify."full"', "true"));

/**
 * What `ledger.verify("full" => true)` finds, but for the definitions of the schema: they take most
 * of its time, and trading does not change them.
 */
export async function verifyRows(client: PoolClient): Promise<{ name: string }[]> {
  const ofRows = parts.filter((part) => !part.includes("installer.verify_objects"));
  const { rows } = await client.query({ name: "verify rows", text: ofRows.join(" union all ") });
  return rows;
}
