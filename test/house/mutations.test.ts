import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { rootDirectory } from "../helpers/repository.ts";
import { mutations, shortNames } from "../mutations/all.ts";
import { mutate } from "../mutations/mutation.ts";

test("every mutation still applies to db/, at one place, and changes something", (t) => {
  for (const mutation of mutations) {
    t.notThrows(() => mutate(mutation));
    t.not(mutation.find, mutation.put, mutation.name);
  }
});

test("the tests that have to notice a mutation are there", (t) => {
  const missing = mutations.flatMap(({ tests }) =>
    tests.filter((name) => !existsSync(join(rootDirectory, `test/${name}.test.ts`))),
  );
  t.deepEqual(missing, []);
});

test("mutations are known by their names, also those of a short run", (t) => {
  const names = mutations.map(({ name }) => name);
  t.is(new Set(names).size, names.length);
  t.deepEqual(
    shortNames.filter((name) => !names.includes(name)),
    [],
  );
});
