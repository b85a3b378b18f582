import test from "ava";
import { readText } from "../helpers/repository.ts";
import { findSquawk, laterMigrations, squawk } from "../helpers/squawk.ts";

/** What a migration of a database in use may not do, by way of examples. */

const guarded = "set local lock_timeout = '2s';\n";

const rules = (migration: string): string[] =>
  findSquawk() === undefined ? [] : [...new Set(squawk(migration).map(({ rule }) => rule))];

for (const [title, migration, expected] of [
  [
    "an index that stops writes",
    `${guarded}create index a on trading.trades (fee_cents);`,
    "require-concurrent-index-creation",
  ],
  [
    "another type, which rewrites the table",
    `${guarded}alter table trading.trades alter column price type bigint;`,
    "changing-column-type",
  ],
  [
    "a check that reads the table under its lock",
    `${guarded}alter table trading.trades add constraint a check (price > 0);`,
    "constraint-missing-not-valid",
  ],
  [
    "waiting for a lock, with everybody behind",
    "alter table trading.trades add column a int;",
    "require-lock-timeout",
  ],
] as const) {
  test(`caught: ${title}`, (t) => {
    const found = rules(migration);
    if (findSquawk() === undefined) t.deepEqual(found, []);
    else t.true(found.includes(expected), found.join(", "));
  });
}

for (const [title, migration] of [
  ["a new column", `${guarded}alter table trading.trades add column a int;`],
  [
    "an index made beside the work",
    "--! no-transaction\nset lock_timeout = '2s';\ncreate index concurrently a on trading.trades (fee_cents);",
  ],
  [
    "functions",
    `${guarded}create or replace function core.one() returns int language sql return 1;`,
  ],
] as const) {
  test(`passed: ${title}`, (t) => {
    t.deepEqual(rules(migration), []);
  });
}

test("the later migrations pass", (t) => {
  for (const path of laterMigrations()) t.deepEqual(rules(readText(path)), [], path);
});
