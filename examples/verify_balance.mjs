// Checks that your cash is in a published proof of balances, with nothing but Node:
//
//   curl -s "$BASE/api/v1/me/proof" -H "Authorization: Bearer $KEY" > proof.json
//   node examples/verify_balance.mjs proof.json c0ffee... 0193d0a0-...
//
// The root is one that you got elsewhere, or from GET /api/v1/proofs/balances; the id is yours, as
// GET /api/v1/me has it. docs/proof.md has the form of the tree. The exit code is 1 if anything is
// wrong.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const [file, root, userId] = process.argv.slice(2);
if (userId === undefined) {
  console.error("Usage: node verify_balance.mjs FILE ROOT USER_ID");
  process.exit(2);
}

const problems = [];
const proof = read(file);

function read(name) {
  try {
    return Object(JSON.parse(readFileSync(name, "utf8")));
  } catch (error) {
    problems.push(`the file cannot be read: ${error.message}`);
    return {};
  }
}

function cents(value, name) {
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  problems.push(`${name} is not a whole number from 0 on`);
  return 0n;
}

function bytes(hex, length, name) {
  if (typeof hex === "string" && /^[0-9a-f]*$/i.test(hex) && hex.length === 2 * length) {
    return Buffer.from(hex, "hex");
  }
  problems.push(`${name} does not have ${length} bytes in hexadecimal digits`);
  return Buffer.alloc(length);
}

function eight(number) {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64BE(number);
  return buffer;
}

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();

/** Whether the sides are the bits of the number, but for zeros of levels without a step. */
function fits(number, sides) {
  let rest = number;
  for (const side of sides) {
    if (side === "left") while (rest > 0n && rest % 2n === 0n) rest /= 2n;
    if (rest % 2n !== (side === "left" ? 1n : 0n)) return false;
    rest /= 2n;
  }
  return rest === 0n;
}

const index = cents(proof.leafIndex, "leafIndex");
if (!Array.isArray(proof.path)) problems.push("there is no path");
const steps = Array.isArray(proof.path) ? proof.path : [];
const path = steps.map((step, i) => {
  const { side, hash, sumCents } = Object(step);
  if (side !== "left" && side !== "right") problems.push(`step ${i + 1} has no side`);
  return {
    side,
    hash: bytes(hash, 32, `the hash of step ${i + 1}`),
    sum: cents(sumCents, `the sum of step ${i + 1}`),
  };
});
const sides = path.map(({ side }) => side);
if (!fits(index, sides)) problems.push("leafIndex does not fit the sides of the path");

let sum = cents(proof.balanceCents, "balanceCents");
let hash = sha256(
  Buffer.from([0]),
  bytes(proof.salt, 32, "the salt"),
  bytes(userId.replaceAll("-", ""), 16, "the id of the user"),
  eight(index),
  eight(sum),
);
for (const step of path) {
  const own = { hash, sum };
  const [left, right] = step.side === "left" ? [step, own] : [own, step];
  hash = sha256(Buffer.from([1]), eight(left.sum), left.hash, eight(right.sum), right.hash);
  sum += step.sum;
}
if (hash.toString("hex") !== root.toLowerCase()) {
  problems.push("balance, salt, id and path do not lead to the root");
}
if (proof.root !== root.toLowerCase()) problems.push("the answer names another root");
if (sum !== cents(proof.totalCents, "totalCents")) {
  problems.push("the balance and the sums of the path do not make up the total");
}

for (const problem of problems) console.log(problem);
if (problems.length === 0) {
  console.log(`${proof.balanceCents} cents are in the total of ${sum} cents`);
} else {
  console.log("this does not show that your cash is in the total");
  process.exitCode = 1;
}
