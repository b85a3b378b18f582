import test from "ava";
import { testDatabase } from "../helpers/database/test_database.ts";
import { invariantsOf, readProofs } from "../helpers/database/invariants.ts";
import { readText } from "../helpers/repository.ts";
import { readDocument } from "./document.ts";
import { runSqlDocument } from "./sql_document.ts";

const database = testDatabase(test);

test("docs/proof.md prints what it says", async (t) => {
  await runSqlDocument(t, readDocument("docs/proof.md"), database.pool);
});

test("docs/proof.md lists the invariants of each proof", async (t) => {
  const listed = new Map(
    readText("docs/proof.md")
      .split(/^### /m)
      .slice(1)
      .map((section) => {
        const name = section.slice(0, section.indexOf("\n"));
        const table = section.split(/^## /m)[0]!;
        const names = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell!.trim());
        return [name, names.filter((cell) => cell !== "Invariant").sort()];
      }),
  );
  const proofs = (await readProofs(database.pool)).filter(({ name }) => name !== "ledger.verify");
  t.true(proofs.length > 5);
  t.deepEqual([...listed.keys()].sort(), proofs.map(({ name }) => name).sort());
  for (const proof of proofs) t.deepEqual(listed.get(proof.name), invariantsOf(proof), proof.name);
});
