import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { rootDirectory } from "../helpers/repository.ts";

/** A program that has nothing of this one checks a user's answer against a root. */

const exchange = testExchange(test);
const directory = mkdtempSync(join(tmpdir(), "pgmarkets-balance-"));
test.after.always("remove the files", () => {
  rmSync(directory, { recursive: true });
});

interface Proof {
  publishedAt: string;
  root: string;
  totalCents: number;
  balanceCents: number;
  salt: string;
  leafIndex: number;
  path: { side: "left" | "right"; hash: string; sumCents: number }[];
}

let users: string[];
const proofs = new Map<string, Proof>();

// Eleven leaves: some paths lack a step where a node was carried up.
test.before("publish a proof", async () => {
  users = [];
  for (let i = 0; i < 11; i += 1) users.push(await exchange.makeTrader({ cents: 1000 + i * 1000 }));
  await exchange.operate("publish_proof");
  for (const user of users) {
    const { rows } = await exchange.database.pool.query("select api.get_own_proof($1) as proof", [
      user,
    ]);
    proofs.set(user, rows[0].proof);
  }
});

let files = 0;

function check(proof: object, root: string, user: string) {
  files += 1;
  const file = join(directory, `${files}.json`);
  writeFileSync(file, JSON.stringify(proof));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["examples/verify_balance.mjs", file, root, user],
    { cwd: rootDirectory, encoding: "utf8" },
  );
  return { status, said: stdout.trim().split("\n"), stderr };
}

test("the cash of each user is in the total", (t) => {
  t.true(new Set([...proofs.values()].map(({ path }) => path.length)).size > 1);
  for (const [user, proof] of proofs) {
    const { balanceCents, totalCents, root } = proof;
    t.is(totalCents, 66_000);
    t.deepEqual(check(proof, root, user), {
      status: 0,
      said: [`${balanceCents} cents are in the total of 66000 cents`],
      stderr: "",
    });
  }
});

const away = "balance, salt, id and path do not lead to the root";
const unfit = "leafIndex does not fit the sides of the path";
const notTotal = "the balance and the sums of the path do not make up the total";
const otherDigit = (hex: string) => hex.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));

test("what was changed is named", (t) => {
  // A leaf in the middle has steps on both sides.
  const [user, proof] = [...proofs].find(([, { leafIndex }]) => leafIndex === 5)!;
  const { root, path, salt, balanceCents, leafIndex, totalCents } = proof;
  const [first, second, ...rest] = path as [Proof["path"][0], Proof["path"][0]];
  const changed: [name: string, proof: object, named: string[]][] = [
    ["balance", { balanceCents: balanceCents + 1 }, [away, notTotal]],
    ["salt", { salt: otherDigit(salt) }, [away]],
    ["index", { leafIndex: leafIndex + 1 }, [unfit, away]],
    ["hash", { path: [{ ...first, hash: otherDigit(first.hash) }, second, ...rest] }, [away]],
    [
      "sum",
      { path: [{ ...first, sumCents: first.sumCents + 1 }, second, ...rest] },
      [away, notTotal],
    ],
    ["side", { path: [{ ...first, side: "right" }, second, ...rest] }, [unfit, away]],
    [
      "a sum that moved from one step to the next",
      {
        path: [
          { ...first, sumCents: first.sumCents + 1 },
          { ...second, sumCents: second.sumCents - 1 },
          ...rest,
        ],
      },
      [away],
    ],
    [
      "a balance that grew by what a sum is below zero",
      {
        balanceCents: balanceCents + first.sumCents + 1,
        path: [{ ...first, sumCents: -1 }, second, ...rest],
      },
      ["the sum of step 1 is not a whole number from 0 on", away, notTotal],
    ],
    ["a step that is gone", { path: [second, ...rest] }, [unfit, away, notTotal]],
    ["order of steps", { path: [second, first, ...rest] }, [unfit, away]],
    ["total", { totalCents: totalCents + 1 }, [notTotal]],
    ["root", { root: otherDigit(root) }, ["the answer names another root"]],
  ];
  const last = "this does not show that your cash is in the total";
  for (const [name, change, named] of changed) {
    const { status, said } = check({ ...proof, ...change }, root, user);
    t.is(status, 1, name);
    t.deepEqual(said, [...named, last], name);
  }
  const elsewhere = check(proof, otherDigit(root), user);
  t.deepEqual(elsewhere.said, [away, "the answer names another root", last]);
});

test("a leaf is of one user: another with the same answer is refused", (t) => {
  const [[one, proof], [other]] = [...proofs] as [[string, Proof], [string, Proof]];
  t.is(check(proof, proof.root, one).status, 0);
  t.is(check(proof, proof.root, other).said[0], away);
});

test("a file of another form shows nothing", (t) => {
  const [user, { root }] = [...proofs][0]!;
  for (const other of [null, [], { path: [null] }, "text"]) {
    const { status, said, stderr } = check(other as object, root, user);
    t.is(status, 1);
    t.is(said.at(-1), "this does not show that your cash is in the total");
    t.is(stderr, "");
  }
});
