import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { runService } from "../helpers/processes/service_process.ts";
import type { ServiceProcess } from "../helpers/processes/service_process.ts";
import { until } from "../helpers/until.ts";

/** A server that is a real process, with a supervisor. */
export interface ServerProcess {
  url: string;
  /** SIGKILL; it is then started again until it stays up. */
  kill: () => Promise<void>;
  /** SIGTERM, and after its end it is started again. */
  restart: () => Promise<void>;
  /** Stands still for so long. */
  freeze: (ms: number) => Promise<void>;
  /** Whether it is the process that was started, and still runs. */
  runs: () => boolean;
  /** SIGTERM, for good: throws unless it ends in order. */
  stop: () => Promise<void>;
  /** SIGKILL, for good. */
  end: () => Promise<void>;
  /** What its log says. */
  log: () => string;
}

/** A worker that is a real process, with a supervisor that starts it again whenever it ends. */
export interface WorkerProcess {
  /** SIGKILL. */
  kill: () => void;
  /** SIGTERM. */
  restart: () => void;
  /** Stands still for so long. */
  freeze: (ms: number) => Promise<void>;
  /** SIGTERM, for good: throws unless it ends in order. */
  stop: () => Promise<void>;
  /** SIGKILL, for good. */
  end: () => Promise<void>;
}

/** Starts a worker. It waits for its database, so it is not waited for. */
export function startWorker(connectionString: string): WorkerProcess {
  const state = { isEnding: false };
  let worker = run();

  function run(): ServiceProcess {
    const environment = { WORKER_DATABASE_URL: connectionString, LOG_LEVEL: "fatal" };
    const started = runService("worker.ts", environment);
    void started.exited.then(() => {
      if (!state.isEnding) worker = run();
    });
    return started;
  }

  return {
    kill: () => {
      worker.kill("SIGKILL");
    },
    restart: () => {
      worker.kill("SIGTERM");
    },
    freeze: (ms) => freeze(worker, ms),
    stop: async () => {
      state.isEnding = true;
      await stop(worker);
    },
    end: async () => {
      state.isEnding = true;
      worker.kill("SIGKILL");
      await worker.exited;
    },
  };
}

async function freeze(service: ServiceProcess | undefined, ms: number): Promise<void> {
  service?.kill("SIGSTOP");
  await delay(ms);
  service?.kill("SIGCONT");
}

async function stop(service: ServiceProcess | undefined): Promise<void> {
  service?.kill("SIGTERM");
  const code = await service?.exited;
  if (code !== 0) throw new Error(`It was stopped, and ended with ${code ?? "a signal"}`);
}

const LISTENING_TIMEOUT_MS = 30_000;
const MOST_LOG_CHARACTERS = 20_000;

/** Starts a server on a migrated database, with more variables, and waits until it listens. */
export async function startServer(
  connectionString: string,
  variables: Record<string, string> = {},
): Promise<ServerProcess> {
  let log = "";
  // A port that no client's socket gets, not even while the server is away.
  const choosePort = () => `http://127.0.0.1:${randomInt(15_000, 30_000)}`;
  let url = choosePort();
  let wasUp = false;
  let server: ServiceProcess | undefined;
  let isRunning = false;

  /** Whether the server listens, be the database there or not; false if it ended before. */
  async function start(): Promise<boolean> {
    const { port } = new URL(url);
    const given = { DATABASE_URL: connectionString, PORT: port, LOG_LEVEL: "error" };
    const environment = { ...given, ...variables };
    const started = runService("server.ts", environment);
    [server, isRunning] = [started, true];
    void started.exited.then(() => {
      log = `${log}${started.errors()}`.slice(-MOST_LOG_CHARACTERS);
      if (server === started) isRunning = false;
    });
    const isListening = (await started.listening) !== undefined;
    // Another program may have the port, which is kept once the server was up.
    if (!isListening && !wasUp) url = choosePort();
    wasUp ||= isListening;
    return isListening;
  }

  async function end(): Promise<void> {
    server?.kill("SIGKILL");
    await server?.exited;
  }

  async function startUntilUp(): Promise<void> {
    try {
      await until("the server listens", start, LISTENING_TIMEOUT_MS);
    } catch (error) {
      throw new Error(
        `The server does not start:
${log}`,
        { cause: error },
      );
    }
  }

  await startUntilUp();
  return {
    url,
    kill: async () => {
      await end();
      await startUntilUp();
    },
    restart: async () => {
      await stop(server);
      await startUntilUp();
    },
    freeze: (ms) => freeze(server, ms),
    runs: () => isRunning,
    stop: () => stop(server),
    end,
    log: () => `${log}${isRunning ? (server?.errors() ?? "") : ""}`.slice(-MOST_LOG_CHARACTERS),
  };
}
