import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Client } from "pg";
import { findViolations } from "./check.ts";
import { startLoad } from "./load.ts";
import type { Answer, Command, Journal } from "./load.ts";
import { startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:kill [-- --rounds 5] [--short]`: kills the database, the server or both at a
 * random moment under load, lets them be started again, and then looks whether the database holds
 * what the clients were told. Ends with 1 if it doesn't.
 */

/** What is killed, by turns. */
const targets = ["the database", "the database and the server", "the server"] as const;

const TRADERS = 16;
const MARKETS = 3;
const FUNDS_CENTS = 100_000_000;
const MOST_VIOLATIONS_SHOWN = 20;

/** How long the load goes on before the kill, at random, and after it works again. */
const fullTimes = { beforeMs: [500, 4000], afterMs: 2000 } as const;
const shortTimes = { beforeMs: [500, 1500], afterMs: 500 } as const;

const { values } = parseArgs({
  options: { rounds: { type: "string" }, short: { type: "boolean", default: false } },
});
const times = values.short ? shortTimes : fullTimes;
const rounds = Number(values.rounds ?? (values.short ? 2 : 5));

const system = await startSystem();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(name, () => {
    void system.destroy().finally(() => process.exit(130));
  });
}
try {
  process.exitCode = await drill(system);
} finally {
  await system.destroy();
}

async function drill({ url, connect, serverLog }: System): Promise<number> {
  const whole: Journal = { placings: [], cancellings: [] };
  const { marketIds, apiKeys } = await withClient(connect, seed);
  for (let round = 1; round <= rounds; round++) {
    const target = targets[(round - 1) % targets.length] ?? targets[0];
    const journal: Journal = { placings: [], cancellings: [] };
    const load = startLoad({ url, marketIds, apiKeys, journal });
    const [shortest, longest] = times.beforeMs;
    await delay(shortest + Math.random() * (longest - shortest));
    const began = performance.now();
    await kill(system, target);
    await load.nextAccepted();
    const downMs = performance.now() - began;
    await delay(times.afterMs);
    await load.stop();
    whole.placings.push(...journal.placings);
    whole.cancellings.push(...journal.cancellings);

    const commands = commandsOf(journal);
    console.log(
      `round ${round}: killed ${target}, accepting again after ${downMs.toFixed(0)} ms; ` +
        `${commands.length} commands: ${countAnswers(commands)}`,
    );
    if (!commands.some(wasInDoubt)) throw new Error("The kill hit nobody: there was no load");
    const violations = await withClient(connect, (client) => findViolations(client, whole));
    if (violations.length > 0) {
      console.error(violations.slice(0, MOST_VIOLATIONS_SHOWN).join("\n"));
      console.error(`${violations.length} violations; the server's log ends with\n${serverLog()}`);
      return 1;
    }
  }
  console.log(summary(whole));
  return 0;
}

/** Both at nearly the same moment, either of them first. Settles when the server is up again. */
async function kill(
  { killDatabase, killServer }: System,
  target: (typeof targets)[number],
): Promise<void> {
  const aLittleLater = () => delay(Math.random() * 30);
  const killing = [
    ...(target === "the server" ? [] : [aLittleLater().then(killDatabase)]),
    ...(target === "the database" ? [] : [aLittleLater().then(killServer)]),
  ];
  await Promise.all(killing);
}

async function seed(client: Client): Promise<{ marketIds: string[]; apiKeys: string[] }> {
  const first = async (text: string, values: unknown[]): Promise<string> => {
    const { rows } = await client.query({ text, values, rowMode: "array" });
    return String(rows[0]?.[0]);
  };
  await client.query("select admin.create_category(slug => 'drill', name => 'Drill')");
  const [marketIds, apiKeys]: [string[], string[]] = [[], []];
  for (let market = 1; market <= MARKETS; market++) {
    const create = "select admin.create_market(title => $1, category => 'drill')";
    marketIds.push(await first(create, [`Market ${market}`]));
  }
  for (let trader = 1; trader <= TRADERS; trader++) {
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
  return { marketIds, apiKeys };
}

async function withClient<T>(
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

function commandsOf({ placings, cancellings }: Journal): Command[] {
  return [...placings, ...cancellings];
}

function countAnswers(commands: Command[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of commands.flatMap(({ answers }) => answers)) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

function wasInDoubt({ answers }: Command): boolean {
  return answers.some(({ kind }) => kind === "unknown" || kind === "cut");
}

function summary(journal: Journal): string {
  const isLast = (kind: Answer["kind"]) => (command: Command) =>
    command.answers.at(-1)?.kind === kind;
  const doubted = commandsOf(journal).filter(wasInDoubt);
  const resolved = doubted.filter(({ answers }) => answers.length > 1);
  return [
    `${rounds} kills: what was answered is what the database holds, and the ledger is sound.`,
    `accepted ${commandsOf(journal).filter(isLast("accepted")).length}, all there once`,
    `in doubt ${doubted.length}, of which ${resolved.length} were sent again and resolved`,
    `told that nothing happened ${commandsOf(journal).filter(isLast("conflict")).length}, all true`,
  ].join("\n  ");
}
