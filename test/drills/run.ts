import { randomInt } from "node:crypto";
import type { Client } from "pg";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { cleanUpOnSignal } from "../helpers/processes/signals.ts";
import { until } from "../helpers/until.ts";
import { shuffleIds, stopShufflingIds } from "../helpers/database/shuffled_ids.ts";
import { findViolations } from "./check.ts";
import { startLoad } from "./load.ts";
import type { Command, Journal, Load } from "./load.ts";
import type { System } from "./system.ts";

/** What the drills have in common. */

const TRADERS = 16;
const MARKETS = 3;
const FUNDS_CENTS = 100_000_000;
const MOST_VIOLATIONS_SHOWN = 20;
/** The worker may have to start first, and to wait for its database. */
const FIRING_TIMEOUT_MS = 60_000;

/** Starts a system, drills it and leaves nothing behind. The process ends with 1 if it failed. */
export async function runDrill<T extends { destroy: () => Promise<void> }>(
  start: () => Promise<T>,
  drill: (system: T) => Promise<boolean>,
): Promise<void> {
  const system = await start();
  cleanUpOnSignal(system.destroy);
  try {
    process.exitCode = (await drill(system)) ? 0 : 1;
  } finally {
    await system.destroy();
  }
}

/** Whether the database matches the answers of the clients; if not, prints the differences. */
export async function isTrue(
  { connect, serverLog }: Pick<System, "connect" | "serverLog">,
  journal: Journal,
): Promise<boolean> {
  const violations = await withClient(connect, (client) => findViolations(client, journal));
  if (violations.length === 0) return true;
  console.error(violations.slice(0, MOST_VIOLATIONS_SHOWN).join("\n"));
  console.error(`${violations.length} violations; the server's log ends with\n${serverLog()}`);
  return false;
}

/** Whether a command was cut or unanswered. */
export function hasDoubts(journal: Journal): boolean {
  return commandsOf(journal).some(wasInDoubt);
}

/** Whether an attempt left it open whether the command was carried out. */
export function wasInDoubt({ answers }: Command): boolean {
  return answers.some(({ kind }) => kind === "unknown" || kind === "cut");
}

/** Whether the server goes on and the database matches the answers of the clients. */
export async function hasSurvived(system: System, journal: Journal): Promise<boolean> {
  if (!system.serverRuns()) {
    console.error("the server ended instead of going on");
    return false;
  }
  return await isTrue(system, journal);
}

/** Seeds a system and loads it. */
export async function startDrillLoad({
  url,
  connect,
}: Pick<System, "url" | "connect">): Promise<{ journal: Journal; load: Load }> {
  const { marketIds, apiKeys } = await withClient(connect, seed);
  const journal = newJournal();
  return { journal, load: startLoad({ url, marketIds, apiKeys, journal }) };
}

/** Settles once every switch has expired, its orders are cancelled, and it is off. */
export async function switchesHaveFired(connect: System["connect"]): Promise<void> {
  await withClient(connect, (client) =>
    until(
      "all switches have fired",
      async () => {
        const { rows } = await client.query(
          "select from trading.dead_man_switches where expires_at is not null limit 1",
        );
        return rows.length === 0;
      },
      FIRING_TIMEOUT_MS,
    ),
  );
}

/** A journal in which nothing is written yet. */
export function newJournal(): Journal {
  return { placings: [], cancellings: [], keyed: [], switches: [] };
}

/** Markets, and traders with money and keys, whose ids don't ascend together. */
export async function seed(
  client: Client,
  traders = TRADERS,
): Promise<{ marketIds: string[]; apiKeys: string[] }> {
  const first = async (text: string, values: unknown[]): Promise<string> => {
    const { rows } = await client.query({ text, values, rowMode: "array" });
    return String(rows[0]?.[0]);
  };
  const from = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
  console.log(`TEST_SEED=${from} for the order of ids`);
  await shuffleIds(client, from);
  await client.query("select admin.create_category(slug => 'drill', name => 'Drill')");
  const [marketIds, apiKeys]: [string[], string[]] = [[], []];
  for (let market = 1; market <= MARKETS; market++) {
    const create = "select admin.create_market(title => $1, category => 'drill')";
    marketIds.push(await first(create, [`Market ${market}`]));
  }
  for (let trader = 1; trader <= traders; trader++) {
    const name = `trader${trader}`;
    const create = "select admin.create_user(email => $1, display_name => $2, handle => $3)";
    const userId = await first(create, [`${name}@drill.example`, name, name]);
    await client.query(
      `select admin.set_loss_limits(
         user_id => $1, day_cents => null, week_cents => null, month_cents => null
       )`,
      [userId],
    );
    await client.query(
      "select admin.deposit(user_id => $1, amount_cents => $2, reference => 'start')",
      [userId, FUNDS_CENTS],
    );
    const createKey = "select admin.create_api_key(user_id => $1, name => 'drill')";
    apiKeys.push(await first(createKey, [userId]));
  }
  await stopShufflingIds(client);
  await liftRateLimits(client);
  return { marketIds, apiKeys };
}

/** Works on a session of its own. */
export async function withClient<T>(
  connect: System["connect"],
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** All commands, together. */
export function commandsOf({ placings, cancellings, keyed, switches }: Journal): Command[] {
  return [...placings, ...cancellings, ...keyed, ...switches];
}

/** Adds what happened in a round to what happened before. */
export function addTo(whole: Journal, round: Journal): void {
  whole.placings.push(...round.placings);
  whole.cancellings.push(...round.cancellings);
  whole.keyed.push(...round.keyed);
  whole.switches.push(...round.switches);
}

/** How many answers of each kind there were, in words. */
export function countAnswers(commands: Command[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of commands.flatMap(({ answers }) => answers)) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}
