import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCheckout } from "../helpers/processes/checkout.ts";
import type { Checkout } from "../helpers/processes/checkout.ts";
import { compileCache } from "../helpers/repository.ts";

/** A sample of what a later version may do to the database, made as a developer would make it. */

/** A change of a file of db/: a piece of its text that is there once, and what takes its place. */
interface Edit {
  path: string;
  find: string;
  put: string;
}

interface Change {
  message: string;
  edits: Edit[];
  /** What is written into current.sql. */
  current: string;
}

/** A function that each order calls, and a column of the two tables that each order is in. */
const expand: Change = {
  message: "Notes on orders",
  edits: [
    {
      path: "api/functions/place_orders.sql",
      find: "as $$\n",
      put: "as $$\n-- Of a later version.\n",
    },
    {
      path: "trading/tables/active_orders.sql",
      find: "  released_at timestamptz,\n",
      put: "  released_at timestamptz,\n  note text,\n",
    },
    {
      path: "trading/tables/ended_orders.sql",
      find: "  released_at timestamptz,\n",
      put: "  released_at timestamptz,\n  note text,\n",
    },
  ],
  current: `set local lock_timeout = '500ms';
set local role exchange_owner;
lock table trading.active_orders, trading.ended_orders in access exclusive mode;
alter table trading.active_orders add column note text;
alter table trading.ended_orders add column note text;
reset role;
`,
};

/** An index of a table that is in use. */
const index: Change = {
  message: "Find trades by their time",
  edits: [
    {
      path: "trading/tables/trades.sql",
      find: "create trigger",
      put: "create index trades_by_time on trading.trades (created_at);\n\ncreate trigger",
    },
  ],
  current: `--! no-transaction
create index concurrently trades_by_time on trading.trades (created_at);
`,
};

export interface LaterVersion extends Checkout {
  /** The names of the migrations that it adds. */
  added: string[];
}

/** A copy of this checkout with two more migrations, made by npm run migrate:commit. */
export async function makeLaterVersion(): Promise<LaterVersion> {
  const checkout = await makeCheckout();
  try {
    const committed = join(checkout.directory, "migrate", "committed");
    const before = new Set(await readdir(committed));
    for (const change of [expand, index]) await make(checkout, change);
    const added = (await readdir(committed)).filter((name) => !before.has(name)).sort();
    return { ...checkout, added };
  } catch (error) {
    await checkout.destroy();
    throw error;
  }
}

async function make({ directory }: Checkout, { message, edits, current }: Change): Promise<void> {
  for (const { path, find, put } of edits) {
    const file = join(directory, "db", path);
    const pieces = (await readFile(file, "utf8")).split(find);
    if (pieces.length !== 2) throw new Error(`db/${path} has "${find}" ${pieces.length - 1} times`);
    await writeFile(file, pieces.join(put));
  }
  await writeFile(join(directory, "migrate", "current.sql"), current);
  const { code, output } = await runIn(directory, "migrate/commit.ts", ["--message", message]);
  if (code !== 0) throw new Error(output);
}

/** Runs a file of a checkout to its end. */
export async function runIn(
  directory: string,
  file: string,
  args: string[] = [],
  environment: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(directory, file), ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, ...compileCache, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => (output += String(chunk)));
  }
  const [code] = await once(child, "close");
  return { code, output };
}
