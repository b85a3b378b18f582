import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startLoad } from "./load.ts";
import type { Answer, Command, Journal } from "./load.ts";
import {
  addTo,
  commandsOf,
  countAnswers,
  hasDoubts,
  isTrue,
  newJournal,
  runDrill,
  seed,
  switchesHaveFired,
  wasInDoubt,
  withClient,
} from "./run.ts";
import { startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:kill [-- --rounds 5] [--short]`: kills the database, the server or both at a
 * random moment under load, and the worker with them, lets them be started again, and then looks
 * whether the database holds what the clients were told: also that commands with keys happened once,
 * and that dead man's switches fired that expired, and no others. Ends with 1 if it doesn't.
 */

/** The processes that are killed, by turns. The worker is killed each time. */
const targets = ["the database", "the database and the server", "the server"] as const;

/** How long the load goes on before the kill, at random, and after it works again. */
const fullTimes = { beforeMs: [500, 4000], afterMs: 2000 } as const;
const shortTimes = { beforeMs: [500, 1500], afterMs: 500 } as const;

const { values } = parseArgs({
  options: { rounds: { type: "string" }, short: { type: "boolean", default: false } },
});
const times = values.short ? shortTimes : fullTimes;
const rounds = Number(values.rounds ?? (values.short ? 2 : 5));

/** Rounds whose kill met no command. They are done once more. */
const MOST_MISSED = 3;

await runDrill(() => startSystem({ withWorker: true }), drill);

async function drill(system: System): Promise<boolean> {
  const { url, connect } = system;
  const whole: Journal = newJournal();
  const { marketIds, apiKeys } = await withClient(connect, seed);
  let missed = 0;
  for (let round = 1; round <= rounds; round++) {
    const target = targets[(round - 1) % targets.length] ?? targets[0];
    const journal: Journal = newJournal();
    const load = startLoad({ url, marketIds, apiKeys, journal, withKeys: true });
    const [shortest, longest] = times.beforeMs;
    await delay(shortest + Math.random() * (longest - shortest));
    const began = performance.now();
    await kill(system, target);
    await load.nextAccepted();
    const downMs = performance.now() - began;
    await delay(times.afterMs);
    await load.stop();
    await switchesHaveFired(connect);
    await load.repeat();
    addTo(whole, journal);

    const commands = commandsOf(journal);
    console.log(
      `round ${round}: killed ${target}, accepting again after ${downMs.toFixed(0)} ms; ` +
        `${commands.length} commands: ${countAnswers(commands)}`,
    );
    if (!(await isTrue(system, whole))) return false;
    if (hasDoubts(journal)) continue;
    // The kill came between two commands, and has shown nothing.
    if (++missed > MOST_MISSED) throw new Error("No command was under way");
    round -= 1;
  }
  console.log(summary(whole));
  return true;
}

/** Both at nearly the same moment, either of them first. Settles when the server is up again. */
async function kill(
  { killDatabase, killServer, killWorker }: System,
  target: (typeof targets)[number],
): Promise<void> {
  const aLittleLater = () => delay(Math.random() * 30);
  const killing = [
    aLittleLater().then(killWorker),
    ...(target === "the server" ? [] : [aLittleLater().then(killDatabase)]),
    ...(target === "the database" ? [] : [aLittleLater().then(killServer)]),
  ];
  await Promise.all(killing);
}

function summary(journal: Journal): string {
  const isLast = (kind: Answer["kind"]) => (command: Command) =>
    command.answers.at(-1)?.kind === kind;
  const { keyed, switches } = journal;
  const repeated = commandsOf(journal).filter(({ answers }) => answers.at(-1)?.isRepetition);
  const doubted = commandsOf(journal).filter(wasInDoubt);
  const resolved = doubted.filter(({ answers }) => answers.length > 1);
  return [
    `${rounds} kills: what was answered is what the database holds, and the ledger is sound.`,
    `accepted ${commandsOf(journal).filter(isLast("accepted")).length}, all there once`,
    `in doubt ${doubted.length}, of which ${resolved.length} were sent again and resolved`,
    `${keyed.length} commands with keys and ${switches.length} settings of switches, of which ` +
      `${repeated.length} were sent again at the end and got their first answer`,
    `told that nothing happened ${commandsOf(journal).filter(isLast("conflict")).length}, all true`,
  ].join("\n  ");
}
