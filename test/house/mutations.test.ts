import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { listFiles, readText, rootDirectory } from "../helpers/repository.ts";
import { mutations, shortNames } from "../mutations/all.ts";
import { listMarks, mutate } from "../mutations/mutation.ts";

test("every mutation applies to the lines that it marks in db/, and changes them", (t) => {
  for (const mutation of mutations) {
    t.notThrows(() => mutate(mutation));
    if (mutation.from !== undefined) t.not(mutation.to, mutation.from, mutation.name);
  }
});

test("every marker of a mutation in db/ is used", (t) => {
  const used = mutations.map(({ name, mark = name }) => mark);
  t.deepEqual(
    listMarks().filter((mark) => !used.includes(mark)),
    [],
  );
  const text = listFiles("db").map(readText).join("\n");
  t.is(text.match(/mutant/g)?.length, text.match(/ -- mutant: [a-z0-9_, ]+$/gm)?.length);
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
