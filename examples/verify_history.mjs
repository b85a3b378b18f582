// Checks an export of sealed history against a head that you have kept, with nothing but Node:
//
//   psql "$DATABASE_URL" -XAtc 'select line from ledger.export_blocks(1, 2000)' > history.txt
//   node examples/verify_history.mjs history.txt 1987 c0ffee...
//
// docs/proof.md has the form of the lines. The exit code is 1 if anything differs. After a restore
// to a moment before the head, other blocks have its number: ask for the last common block.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const [file, keptBlock, keptHash] = process.argv.slice(2);
if (keptHash === undefined) {
  console.error("Usage: node verify_history.mjs FILE BLOCK HASH");
  process.exit(2);
}

const sha256 = (text) => createHash("sha256").update(text).digest();
const problems = [];
const hashes = new Map();
let rows = 0;
let current;

function begin(text) {
  const block = JSON.parse(text);
  current = {
    number: block.number,
    previousHash: block.previous_hash?.slice(2),
    hash: createHash("sha256").update(text.replace(/"hash": "\\\\x[0-9a-f]+", /, "")),
    ranges: new Map(),
  };
}

function addRange(text) {
  const { table_name, row_count, hash } = JSON.parse(text);
  current.hash.update(`\n${text}`);
  const found = { count: 0, hash: createHash("sha256") };
  current.ranges.set(table_name, { count: row_count, hash: hash.slice(2), found });
}

function addRow(text) {
  const table = text.slice(0, text.indexOf(" "));
  const range = current.ranges.get(table);
  if (range === undefined) {
    problems.push(`block ${current.number} has no range of ${table}`);
    return;
  }
  range.found.count += 1;
  range.found.hash.update(sha256(text.slice(table.length + 1)));
  rows += 1;
}

function end() {
  if (current === undefined) return;
  const { number, previousHash, hash, ranges } = current;
  for (const [table, { count, hash, found }] of ranges) {
    if (count !== found.count || hash !== found.hash.digest("hex")) {
      problems.push(`block ${number}: the rows of ${table} are not those that were sealed`);
    }
  }
  const isFirst = hashes.size === 0;
  if (!isFirst && !hashes.has(number - 1)) problems.push(`block ${number - 1} is missing`);
  if ((!isFirst || number === 1) && previousHash !== hashes.get(number - 1)) {
    problems.push(`block ${number} does not follow the one before`);
  }
  hashes.set(number, hash.digest("hex"));
}

const parts = { block: (text) => (end(), begin(text)), range: addRange, row: addRow };
for await (const line of createInterface({ input: createReadStream(file) })) {
  const kind = line.slice(0, line.indexOf(" "));
  parts[kind](line.slice(kind.length + 1));
}
end();

const found = hashes.get(Number(keptBlock));
if (found === undefined) problems.push(`block ${keptBlock} is not in the file`);
else if (found !== keptHash.toLowerCase()) {
  problems.push(
    `block ${keptBlock} has another hash: history was rewritten, or restored to an earlier moment`,
  );
}

for (const problem of problems) console.log(problem);
const [first] = hashes.keys();
console.log(`${rows} rows in blocks ${first} to ${[...hashes.keys()].at(-1)}`);
console.log(problems.length === 0 ? "history is as it was sealed" : "history was changed");
process.exitCode = problems.length === 0 ? 0 : 1;
