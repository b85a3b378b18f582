import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { listFiles, readText, rootDirectory } from "../helpers/repository.ts";
import { mutations, shortNames } from "../mutations/all.ts";
import { mutate } from "../mutations/mutation.ts";

test("every mutation applies to its file of db/, and changes it", (t) => {
  for (const mutation of mutations) {
    t.notThrows(() => mutate(mutation));
    t.not(mutation.to, mutation.from, mutation.name);
  }
});

test("nothing in db/ is there for a mutation", (t) => {
  t.deepEqual(
    listFiles("db").filter((path) => readText(path).includes("mutant")),
    [],
  );
});

test("the tests that must fail for a mutation exist", (t) => {
  const missing = mutations.flatMap(({ tests }) =>
    tests.filter((name) => !existsSync(join(rootDirectory, `test/${name}.test.ts`))),
  );
  t.deepEqual(missing, []);
});

test("the names of mutations are unique, and a short run names existing ones", (t) => {
  const names = mutations.map(({ name }) => name);
  t.is(new Set(names).size, names.length);
  t.deepEqual(
    shortNames.filter((name) => !names.includes(name)),
    [],
  );
});
