import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import type { Exchange } from "./test_exchange.ts";

/**
 * The seals of history as docs/proof.md describes them, computed here from the tables: what a row
 * is as text, and the hashes of rows, ranges and blocks.
 */

type Queryable = Pool | PoolClient;

export interface Block {
  number: number;
  hash: string;
  previousHash: string | null;
}

/** Seals until nothing is left; how many rows that were. */
export async function sealAll(database: Queryable, most = 10_000): Promise<number> {
  let all = 0;
  for (;;) {
    const { rows } = await database.query<{ count: number }>("select ledger.seal($1) as count", [
      most,
    ]);
    const { count } = rows[0]!;
    if (count === 0) return all;
    all += count;
  }
}

/** Cancels an open order that was reduced: its reductions are sealed with it. */
export async function endReducedOrder({ database, cancel }: Exchange): Promise<void> {
  const { rows } = await database.pool.query<{ order: string; trader: string }>(
    `select a.order_public_id as order, u.public_id as trader
     from trading.active_orders as a
     join trading.order_reductions as r on r.order_id = a.order_id
     join identity.users as u on u.id = a.user_id`,
  );
  await cancel(rows[0]!.trader, rows[0]!.order);
}

/** The blocks, as they are stored. */
export async function readBlocks(database: Queryable): Promise<Block[]> {
  const { rows } = await database.query(
    `select number, encode(hash, 'hex') as hash, encode(previous_hash, 'hex') as "previousHash"
     from ledger.blocks
     order by number`,
  );
  return rows;
}

/** What `ledger.verify("full" => true)` finds about the seals. */
export async function verifySeals(
  database: Queryable,
): Promise<{ name: string; object: string; expected: string; found: string }[]> {
  return (await database.query(`select * from ledger.verify_blocks("full" => true)`)).rows;
}

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Values as text; JSON has a text of its own. */
type Row = Record<string, string | null>;

/** Types whose values stand without quotes. */
const bare = ["bigint", "integer", "boolean", "jsonb", "bigint[]"];

/** Reads a table as text in UTC, with the type below each domain. */
async function readTable(client: PoolClient, table: string) {
  const { rows: columns } = await client.query<{ name: string; type: string }>(
    `select a.attname as name, format_type(
       case t.typtype when 'd' then t.typbasetype else t.oid end, null) as type
     from pg_attribute as a join pg_type as t on t.oid = a.atttypid
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
  const asText = ({ name, type }: { name: string; type: string }) =>
    type.startsWith("timestamp")
      ? `case when isfinite("${name}") then
           rtrim(rtrim(to_char("${name}", 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || '+00:00'
         else "${name}"::text end as "${name}"`
      : `"${name}"::text as "${name}"`;
  const { rows } = await client.query<Row>(
    `select ${columns.map(asText).join(", ")} from ${table}`,
  );
  return { columns, rows };
}

/** The canonical texts of a table's rows, each with its row. */
async function canonicalRows(client: PoolClient, table: string) {
  const { columns, rows } = await readTable(client, table);
  const sorted = columns.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const valueOf = (type: string, text: string): string => {
    if (type === "bigint[]") return text.replace("{", "[").replace("}", "]");
    if (type === "boolean") return text;
    return bare.includes(type) ? text : JSON.stringify(text);
  };
  return rows.map((row) => {
    const members = sorted.flatMap(({ name, type }) =>
      row[name] === null ? [] : [`"${name}": ${valueOf(type, row[name]!)}`],
    );
    return { row, text: `{${members.join(", ")}}` };
  });
}

/** The hash of each block, computed from the tables. */
export async function computeBlocks(client: PoolClient): Promise<Block[]> {
  await client.query("set timezone = 'UTC'; set bytea_output = 'hex'");
  const { rows: tables } = await client.query<{
    table_name: string;
    id_column: string;
    of: string;
  }>("select table_name, id_column, sequence_name as of from ledger.sealed_tables");
  const history = new Map<string, { id: number; text: string }[]>();
  for (const { table_name, id_column } of tables) {
    const rows = await canonicalRows(client, table_name);
    history.set(
      table_name,
      rows.map(({ row, text }) => ({ id: Number(row[id_column]), text })),
    );
  }
  const { rows: stored } = await client.query(
    `select b.number, b.open_order_ids as open, b.ended_order_ids as ended from ledger.blocks as b`,
  );
  const { rows: ranges } = await client.query("select * from ledger.block_ranges");
  const rangeTexts = await canonicalRows(client, "ledger.block_ranges");
  const blocks = await canonicalRows(client, "ledger.blocks");

  const rangeHash = (range: any): string => {
    const { open, ended } = stored.find(({ number }) => number === range.block_number);
    const ofOrders = tables.find(({ table_name }) => table_name === range.table_name)!.of;
    const [left, late] = ofOrders === "trading.order_ids" ? [open, ended] : [[], []];
    const after: number = range.after_id ?? -Infinity;
    const hashes = history
      .get(range.table_name)!
      .filter(({ id }) =>
        late.includes(id) ? true : id > after && id <= range.through_id && !left.includes(id),
      )
      .map(({ id, text }) => ({ id, hash: sha256(text) }))
      .sort((one, other) => one.id - other.id || Buffer.compare(one.hash, other.hash));
    return sha256(...hashes.map(({ hash }) => hash)).toString("hex");
  };
  const hashOfRange = new Map(
    ranges.map((range) => [`${range.block_number} ${range.table_name}`, rangeHash(range)]),
  );

  return blocks
    .map(({ row, text }) => {
      const own = text.replace(/"hash": "[^"]*", /, "");
      const ofBlock = rangeTexts
        .filter((range) => range.row.block_number === row.number)
        .sort((one, other) => (one.row.table_name! < other.row.table_name! ? -1 : 1))
        .map((range) => {
          const hash = hashOfRange.get(`${row.number} ${range.row.table_name}`)!;
          return `\n${range.text.replace(/"hash": "[^"]*"/, `"hash": "\\\\x${hash}"`)}`;
        });
      return {
        number: Number(row.number),
        hash: sha256(own, ...ofBlock).toString("hex"),
        previousHash: row.previous_hash?.slice(2) ?? null,
      };
    })
    .sort((one, other) => one.number - other.number);
}
