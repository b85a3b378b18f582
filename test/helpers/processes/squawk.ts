import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadModule, parseSync } from "libpg-query";
import { listFiles, rootDirectory } from "../repository.ts";

/** What squawk finds fault with. */
export interface Complaint {
  /** From 0. */
  line: number;
  rule: string;
  message: string;
}

const FIRST_MIGRATION = "migrate/committed/000001.sql";

/** The program, where npm has one for this machine. */
export function findSquawk(): string | undefined {
  const name = `@squawk-cli/${process.platform}-${process.arch}/bin/squawk`;
  const path = join(rootDirectory, "node_modules", name);
  return existsSync(path) ? path : undefined;
}

/** The migrations that run on databases in use: all but the first, and the next one. */
export function laterMigrations(): string[] {
  const committed = listFiles("migrate/committed").filter((path) => path.endsWith(".sql"));
  return [...committed.filter((path) => path !== FIRST_MIGRATION), "migrate/current.sql"];
}

await loadModule();

/**
 * The longest lock timeout of a migration: half of deadlock_timeout, so that a session that waits for
 * the migration looks for a deadlock only when the migration no longer waits for others.
 */
const MOST_LOCK_TIMEOUT_MS = 500;

const milliseconds: Record<string, number> = { ms: 1, s: 1000, min: 60_000 };

/**
 * Everything that the rules of .squawk.toml find in a migration, and a lock timeout that is too
 * long. One without a transaction is a
 * single statement: PostgreSQL runs several that come together in a transaction, where an index
 * can't be made concurrently. So it can't set a lock timeout, and needs none: such statements wait
 * without blocking reads and writes.
 */
export function squawk(migration: string): Complaint[] {
  const inTransaction = !/^--! no-transaction\b/m.test(migration);
  const { stdout, stderr, status } = spawnSync(
    findSquawk() ?? "",
    [
      ...["--config", join(rootDirectory, ".squawk.toml"), "--reporter", "json"],
      ...["--stdin-filepath", "migration.sql"],
      ...(inTransaction ? [] : ["--no-assume-in-transaction"]),
    ],
    { input: migration, encoding: "utf8" },
  );
  if (status !== 0 && stdout === "") throw new Error(`squawk failed: ${stderr}`);
  const found = stdout
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line): any[] => JSON.parse(line))
    .map(({ line, rule_name: rule, message }) => ({ line, rule, message }));
  if (inTransaction) return [...found, ...longLockTimeouts(migration)];
  return [
    ...found.filter(({ rule }) => rule !== "require-lock-timeout"),
    ...(parseSync(migration).stmts?.length === 1 ? [] : [severalStatements]),
  ];
}

const severalStatements: Complaint = {
  line: 0,
  rule: "one-statement-without-transaction",
  message: "A migration that says `--! no-transaction` is a single statement",
};

function longLockTimeouts(migration: string): Complaint[] {
  return migration.split("\n").flatMap((text, line): Complaint[] => {
    const setting = /\block_timeout\s*(?:=|to)\s*'?(\w+)\s*(ms|s|min)?\b/i.exec(text);
    if (setting === null) return [];
    const [, number = "", unit = "ms"] = /^(\d+)(ms|s|min)?$/.exec(
      `${setting[1]}${setting[2] ?? ""}`,
    ) ?? ["", "NaN"];
    const ms = Number(number) * (milliseconds[unit] ?? NaN);
    if (ms > 0 && ms <= MOST_LOCK_TIMEOUT_MS) return [];
    const message = `The lock timeout must be at most ${MOST_LOCK_TIMEOUT_MS} ms, and not 0`;
    return [{ line, rule: "lock-timeout-too-long", message }];
  });
}
