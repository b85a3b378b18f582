import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { readBlocks, sealAll } from "../helpers/exchange/sealed_history.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { tradeALittle } from "../db/ledger/damages/history.ts";

/** A program that has nothing of this one checks an export against a head. */

const exchange = testExchange(test);
const pool = () => exchange.database.pool;
const directory = mkdtempSync(join(tmpdir(), "pgmarkets-history-"));
test.after.always("remove the files", () => {
  rmSync(directory, { recursive: true });
});

let lines: string[];

test.before("seal a history", async () => {
  await tradeALittle(exchange);
  await sealAll(pool(), 7);
  const { rows } = await pool().query("select line from ledger.export_blocks(1, 1000000)");
  lines = rows.map(({ line }) => line);
});

let files = 0;

function check(text: string[], block: number, hash: string) {
  files += 1;
  const file = join(directory, `${files}.txt`);
  writeFileSync(file, `${text.join("\n")}\n`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["examples/verify_history.mjs", file, String(block), hash],
    { cwd: rootDirectory, encoding: "utf8" },
  );
  return { status, said: stdout.trim().split("\n"), stderr };
}

test("an export fits each head of its chain", async (t) => {
  const blocks = await readBlocks(pool());
  const rowCount = lines.filter((line) => line.startsWith("row ")).length;
  for (const { number, hash } of [blocks[0]!, blocks[blocks.length >> 1]!, blocks.at(-1)!]) {
    t.deepEqual(check(lines, number, hash), {
      status: 0,
      said: [`${rowCount} rows in blocks 1 to ${blocks.length}`, "history is as it was sealed"],
      stderr: "",
    });
  }
});

test("what was changed is named", async (t) => {
  const blocks = await readBlocks(pool());
  const { number, hash } = blocks.at(-1)!;
  const trade = lines.findIndex((line) => line.startsWith("row trading.trades"));
  const from = lines.findLastIndex((line, index) => index < trade && line.startsWith("block "));
  const block = JSON.parse(lines[from]!.slice("block ".length)).number as number;
  const until = lines.findIndex((line, index) => index > from && line.startsWith("block "));
  const changed = `block ${block}: the rows of trading.trades are not those that were sealed`;

  const forged = lines.with(trade, lines[trade]!.replace(/"price": \d+/, '"price": 1'));
  t.is(check(forged, number, hash).said[0], changed);
  t.is(check(lines.toSpliced(trade, 1), number, hash).said[0], changed);
  t.is(check(lines.toSpliced(trade, 0, lines[trade]!), number, hash).said[0], changed);
  const without = check(lines.toSpliced(from, until - from), number, hash);
  t.true(without.said.includes(`block ${block} is missing`), without.said.join());
  t.is(
    check(lines, number, hash.replace(/^./, "g")).said[0],
    `block ${number} has another hash: history was rewritten, or restored to an earlier moment`,
  );
  t.is(check(lines, number + 1, hash).said[0], `block ${number + 1} is not in the file`);
  t.is(check(forged, number, hash).status, 1);
});

test("a range that was made to fit the forged rows breaks the chain", async (t) => {
  const { number, hash } = (await readBlocks(pool())).at(-1)!;
  const { rows } = await exchange.withRollback(async (client) => {
    await client.query("set local session_replication_role = replica");
    await client.query("update trading.trades set public_id = core.uuid_v7()");
    await client.query(
      `update ledger.block_ranges as r set hash = h.hash
       from ledger.blocks as b,
         lateral ledger.hash_ranges(
           'trading.trades', array[b],
           array(select g from ledger.block_ranges as g
                 where g.block_number = b.number and g.table_name = 'trading.trades')
         ) as h
       where r.block_number = b.number and r.table_name = 'trading.trades'`,
    );
    return await client.query("select line from ledger.export_blocks(1, 1000000)");
  });
  const { said, status } = check(
    rows.map(({ line }) => line),
    number,
    hash,
  );
  t.is(status, 1);
  t.true(said.some((line) => line.endsWith("does not follow the one before")));
});
