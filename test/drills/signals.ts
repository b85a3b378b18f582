import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { kill, makeCheckout } from "../helpers/processes/checkout.ts";
import type { Checkout } from "../helpers/processes/checkout.ts";
import { compileCache } from "../helpers/repository.ts";

/**
 * `npm run drill:signals [-- --rounds 6] [--short]`: ends `npm start` on its embedded PostgreSQL in
 * each of the ways that deliver a signal more than once, at a random moment. Ends with 1 if
 * a process is left, or if a start or an end takes too long.
 */

const { values } = parseArgs({
  options: { rounds: { type: "string" }, short: { type: "boolean", default: false } },
});
const rounds = Number(values.rounds ?? (values.short ? 1 : 6));

const START_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 40_000;
const CTRL_C = "\x03";

interface Running {
  child: ChildProcess;
  output: () => string;
  listening: Promise<boolean>;
  ended: Promise<void>;
}

interface Way {
  name: string;
  /** In a terminal of its own, with `npm start` in its foreground. */
  terminal: boolean;
  /** How long after the start it is ended, at most; undefined: once it listens. */
  withinMs?: number;
  end: (running: Running, checkout: Checkout) => Promise<void>;
}

const ways: Way[] = [
  { name: "Ctrl-C", terminal: true, end: pressCtrlC(1) },
  { name: "Ctrl-C three times within a second", terminal: true, end: pressCtrlC(3) },
  { name: "Ctrl-C again after 6 s, while a client holds it up", terminal: true, end: forceByCtrlC },
  { name: "Ctrl-C while it starts", terminal: true, withinMs: 2500, end: pressCtrlC(1) },
  { name: "SIGTERM to all, as by systemd's default", terminal: false, end: signalAll(() => true) },
  {
    name: "SIGTERM to npm and to what it started",
    terminal: false,
    end: signalAll(({ command }) => !command.includes("postgres")),
  },
];

const checkout = await makeCheckout();
try {
  process.exitCode = (await drill()) ? 0 : 1;
} finally {
  await checkout.destroy();
}

async function drill(): Promise<boolean> {
  let failures = 0;
  for (let round = 1; round <= rounds; round++) {
    for (const way of ways) {
      const fault = await tryOnce(way);
      if (fault === undefined) continue;
      failures += 1;
      console.error(`round ${round}, ${way.name}: ${fault}`);
      for (const { processId } of await checkout.processes()) kill(processId, "SIGKILL");
    }
  }
  const tries = rounds * ways.length;
  console.log(`${tries} ends by ${ways.length} ways, of which ${failures} left something behind`);
  return failures === 0;
}

/** What went wrong, if anything. */
async function tryOnce(way: Way): Promise<string | undefined> {
  const running = start(way.terminal);
  const patienceMs = way.withinMs === undefined ? START_TIMEOUT_MS : Math.random() * way.withinMs;
  // A timer that lost its race must not keep the drill from ending.
  const patience = delay(patienceMs, undefined, { ref: false });
  const isUp = await Promise.race([running.listening, patience]);
  if (way.withinMs === undefined && isUp !== true) {
    return `it does not start:\n${running.output()}`;
  }
  await way.end(running, checkout);
  const inTime = await Promise.race([
    running.ended.then(() => true),
    delay(END_TIMEOUT_MS, false, { ref: false }),
  ]);
  if (!inTime) return `it does not end:\n${running.output()}`;
  // npm may end a little before the processes that it started.
  for (let waited = 0; waited < 5000 && (await checkout.processes()).length > 0; waited += 50) {
    await delay(50);
  }
  const left = await checkout.processes();
  if (left.length === 0) return undefined;
  return `left behind: ${left.map(({ command }) => command).join("; ")}\n${running.output()}`;
}

function start(terminal: boolean): Running {
  // `script` gives the command a terminal, and passes on what comes from its own standard input.
  const [command, ...args] = terminal
    ? (["script", "--quiet", "--command", "npm start", "/dev/null"] as const)
    : (["npm", "start"] as const);
  const child = spawn(command, args, {
    cwd: checkout.directory,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0", ...compileCache },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  const listening = new Promise<boolean>((resolve) => {
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes("listening on http")) resolve(true);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.once("exit", () => {
      resolve(false);
    });
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  return { child, output: () => output, listening, ended };
}

function pressCtrlC(times: number): Way["end"] {
  return async ({ child }) => {
    for (let time = 1; time <= times; time++) {
      child.stdin?.write(CTRL_C);
      await delay(Math.random() * 300);
    }
  };
}

/** A request whose body does not come holds the end up for 10 s; the second Ctrl-C forces it. */
async function forceByCtrlC({ child, output, ended }: Running): Promise<void> {
  const url = new URL(/listening on (http\S+)/.exec(output())?.[1] ?? "");
  const key = /demo key +(\S+)/.exec(output())?.[1] ?? "";
  const client = connect(Number(url.port), url.hostname);
  client.on("error", () => undefined);
  client.write(
    `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 10\r\n\r\n",
  );
  await delay(500);
  child.stdin?.write(CTRL_C);
  const held = await Promise.race([ended.then(() => false), delay(6000, true, { ref: false })]);
  if (!held) console.error("the client did not hold it up: the second Ctrl-C forces nothing");
  child.stdin?.write(CTRL_C);
  await ended;
  client.destroy();
}

/** Once to each, in a random order, and to the node once more, which npm sees to. */
function signalAll(isMeant: (process: { command: string }) => boolean): Way["end"] {
  return async (_running, { processes }) => {
    const all = (await processes()).filter(isMeant);
    for (const { processId } of all.sort(() => Math.random() - 0.5)) kill(processId, "SIGTERM");
  };
}
