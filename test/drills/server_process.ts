import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { rootDirectory } from "../helpers/repository.ts";

/** A server that is a real process, with a supervisor. */
export interface ServerProcess {
  url: string;
  /** SIGKILL; it is then started again until it stays up. */
  kill: () => Promise<void>;
  /** Whether it is the process that was started, and still runs. */
  runs: () => boolean;
  /** SIGKILL, for good. */
  end: () => Promise<void>;
  /** What its log says. */
  log: () => string;
}

const LISTENING_TIMEOUT_MS = 30_000;
const MOST_LOG_CHARACTERS = 20_000;

/** Starts a server on a migrated database and waits until it listens. */
export async function startServer(connectionString: string): Promise<ServerProcess> {
  let log = "";
  let server: ChildProcess | undefined;
  let url = "http://127.0.0.1:0";

  /** The server, once it listens, be the database there or not; undefined if it ended before. */
  async function start(): Promise<ChildProcess | undefined> {
    const child = spawn(process.execPath, [join(rootDirectory, "src/bin/server.ts")], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: connectionString,
        PORT: new URL(url).port,
        LOG_LEVEL: "error",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.on("data", (chunk) => {
      log = (log + String(chunk)).slice(-MOST_LOG_CHARACTERS);
    });
    const listening = once(child.stdout, "data").then(([line]) => {
      // The first one chose a port, where the others will be looked for.
      url = /^listening on (\S+)$/m.exec(String(line))?.[1] ?? url;
      return child;
    });
    const ended = once(child, "exit").then(() => undefined);
    return await Promise.race([listening, ended]);
  }

  async function startUntilUp(): Promise<void> {
    const deadline = Date.now() + LISTENING_TIMEOUT_MS;
    for (;;) {
      server = await start();
      if (server !== undefined) return;
      if (Date.now() > deadline) throw new Error(`The server does not start:\n${log}`);
      await delay(100);
    }
  }

  const runs = () => server?.exitCode === null && server.signalCode === null;

  async function end(): Promise<void> {
    if (!server || !runs()) return;
    const exit = once(server, "exit");
    server.kill("SIGKILL");
    await exit;
  }

  await startUntilUp();
  return {
    url,
    kill: async () => {
      await end();
      await startUntilUp();
    },
    runs,
    end,
    log: () => log,
  };
}
