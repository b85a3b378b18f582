import test from "ava";
import { readText } from "../helpers/repository.ts";
import { findSquawk, laterMigrations, squawk } from "../helpers/processes/squawk.ts";

/** What a migration of a database in use may not do, by way of examples. */

const guarded = "set local lock_timeout = '500ms';\n";

const rules = (migration: string): string[] => [
  ...new Set(squawk(migration).map(({ rule }) => rule)),
];

/** The rules are tried where npm has squawk for the machine; elsewhere a test says that they aren't. */
const testRules = findSquawk() === undefined ? undefined : test;
if (testRules === undefined) {
  test("NOT TRIED: there is no squawk for this machine", (t) => {
    t.log("npm run check:migrations does nothing here either");
    t.not(`${process.platform}-${process.arch}`, "linux-x64");
  });
}

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
  ...["'1s'", "'0.6 s'", "0", "501", "'1 min'", "default"].map(
    (timeout) =>
      [
        `a lock timeout of ${timeout}, in which a deadlock can be found`,
        `set local lock_timeout = ${timeout};\nalter table trading.trades add column a int;`,
        "lock-timeout-too-long",
      ] as const,
  ),
  [
    "several statements without a transaction, which PostgreSQL runs in one all the same",
    "--! no-transaction\nset lock_timeout = '500ms';\ncreate index concurrently a on trading.trades (fee_cents);",
    "one-statement-without-transaction",
  ],
] as const) {
  testRules?.(`caught: ${title}`, (t) => {
    const found = rules(migration);
    t.true(found.includes(expected), found.join(", "));
  });
}

for (const [title, migration] of [
  [
    "a lock timeout as a number",
    "set local lock_timeout to 200;\nalter table trading.trades add column a int;",
  ],
  ["a new column", `${guarded}alter table trading.trades add column a int;`],
  [
    "an index made beside the work",
    "--! no-transaction\ncreate index concurrently a on trading.trades (fee_cents);",
  ],
  [
    "functions",
    `${guarded}create or replace function core.one() returns int language sql return 1;`,
  ],
] as const) {
  testRules?.(`passed: ${title}`, (t) => {
    t.deepEqual(rules(migration), []);
  });
}

testRules?.("the later migrations pass", (t) => {
  const paths = laterMigrations();
  t.true(paths.includes("migrate/current.sql"));
  for (const path of paths) t.deepEqual(rules(readText(path)), [], path);
});
