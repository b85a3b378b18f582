import type { Logger } from "pino";
import { readConfig } from "../config.ts";
import type { Config } from "../config.ts";
import { DatabaseNotReadyError } from "../database/not_ready.ts";
import { isDatabaseAway, waitForDatabase } from "../database/wait_for_database.ts";
import type { WaitOptions } from "../database/wait_for_database.ts";
import { openDatabase } from "../local/open_database.ts";
import type { OpenDatabase } from "../local/open_database.ts";
import { singleFlight } from "../single_flight.ts";
import { errorMessage, makeLogger } from "./logger.ts";

/** What a long-running process starts from. */
export interface ProcessContext {
  config: Config;
  logger: Logger;
  /** For people and scripts: a line on standard output. */
  print: (line: string) => void;
  /** A line in the log. */
  inform: (message: string) => void;
  /** Registers what must be closed. What was opened last is closed first. */
  onClose: (close: () => Promise<unknown>, options?: CloserOptions) => void;
  /** Aborted when the process is to end. A start that waits for something then gives up. */
  ending: AbortSignal;
  /** Opens the database of DATABASE_URL or the embedded one, and registers it to be closed. */
  openDatabase: () => Promise<OpenDatabase>;
  /**
   * Opens something once the database is ready for it. It is registered to be closed before that, so
   * that what it needs is not closed while it is still being opened.
   */
  openWhenReady: <T extends { close: () => Promise<unknown> }>(
    open: () => Promise<T>,
    onWaiting?: WaitOptions["onWaiting"],
  ) => Promise<T>;
}

export interface CloserOptions {
  /** It would outlive the process, so it is closed even when the process is forced to end. */
  outlivesProcess?: boolean;
}

interface Closer {
  close: () => Promise<unknown>;
  outlivesProcess: boolean;
}

/** Signals that ask for an orderly end. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/**
 * A further signal within this time is the same request: a terminal and systemd signal the whole
 * process group, and npm passes its signal on. A later one forces the end.
 */
const SAME_REQUEST_MS = 5000;
/** Longer than the parts may take to close. After it, the end is forced. */
const CLOSING_TIMEOUT_MS = 30_000;
/** How long a forced end may take to close what would outlive the process. */
const FORCED_CLOSING_TIMEOUT_MS = 15_000;

/**
 * Runs a process: reads the configuration, makes the log, and ends the process in order after a
 * signal, an unforeseen error, or a start that failed.
 */
export async function runProcess(start: (context: ProcessContext) => Promise<void>): Promise<void> {
  const config = configOrEnd();
  const logger = makeLogger(config.logLevel);
  const closers: Closer[] = [];
  const ending = new AbortController();
  let exitCode = 0;
  let started: Promise<void> = Promise.resolve();

  async function end(): Promise<void> {
    ending.abort();
    setTimeout(() => {
      logger.error("closing takes too long");
      void force();
    }, CLOSING_TIMEOUT_MS).unref();
    // A start that goes on may still open something: wait until it is done or has given up.
    await started.catch(() => undefined);
    for (const { close } of closers.toReversed()) {
      await close().catch((error: unknown) => {
        exitCode = 1;
        logger.error({ error }, "closing failed");
      });
    }
    process.exit(exitCode);
  }

  /** Closes only what would outlive the process, and ends it. */
  async function force(): Promise<void> {
    setTimeout(() => process.exit(1), FORCED_CLOSING_TIMEOUT_MS);
    const closeOutliving = (): Promise<unknown> =>
      Promise.allSettled(
        closers.filter(({ outlivesProcess }) => outlivesProcess).map(({ close }) => close()),
      );
    await closeOutliving();
    // A start that goes on may open more of it.
    await started.catch(() => undefined);
    await closeOutliving();
    process.exit(1);
  }

  let firstSignalAt: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      const now = performance.now();
      firstSignalAt ??= now;
      if (!ending.signal.aborted) {
        logger.info({ signal: name }, "closing");
        void end();
      } else if (now - firstSignalAt > SAME_REQUEST_MS) {
        logger.warn({ signal: name }, "asked again: closing at once");
        void force();
      }
    });
  }
  function endUnforeseen(error: unknown): void {
    exitCode = 1;
    if (ending.signal.aborted) {
      logger.error({ error }, "unforeseen error while closing");
    } else {
      logger.fatal({ error }, "unforeseen error: closing");
      void end();
    }
  }
  process.on("uncaughtException", endUnforeseen);
  process.on("unhandledRejection", (error: unknown) => {
    // The job queue does not await the statements that put jobs back.
    if (isDatabaseAway(error)) logger.warn({ error }, "the database lost a statement");
    else endUnforeseen(error);
  });

  started = start(contextOf(config, logger, closers, ending.signal));
  try {
    await started;
  } catch (error) {
    if (ending.signal.aborted) return;
    process.stderr.write(`${errorMessage(error)}\n`);
    exitCode = 1;
    await end();
  }
}

function contextOf(
  config: Config,
  logger: Logger,
  closers: Closer[],
  ending: AbortSignal,
): ProcessContext {
  const inform = (message: string): void => {
    logger.info(message);
  };
  const onClose: ProcessContext["onClose"] = (close, { outlivesProcess = false } = {}) => {
    closers.push({ close: singleFlight(close, Infinity), outlivesProcess });
  };
  return {
    config,
    logger,
    print: (line) => process.stdout.write(`${line}\n`),
    inform,
    onClose,
    ending,
    openDatabase: async () => {
      const database = await openDatabase(config, inform);
      onClose(database.close, { outlivesProcess: true });
      return database;
    },
    openWhenReady: async (open, onWaiting) => {
      let opening: ReturnType<typeof open> | undefined;
      onClose(async () => {
        const opened = await opening?.catch(() => undefined);
        await opened?.close();
      });
      const options = { logger, signal: ending, ...(onWaiting && { onWaiting }) };
      return await waitForDatabase(() => (opening = open()), options);
    },
  };
}

/** The configuration. If it is wrong, prints why and ends the process. */
export function configOrEnd(): Config {
  try {
    return readConfig();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

/**
 * Throws in production if no database is named. Otherwise a missing variable would start a process
 * on an embedded PostgreSQL, which is empty.
 */
export function checkProductionUrl(
  config: Pick<Config, "databaseUrl" | "isProduction">,
  ...otherNames: string[]
): void {
  if (!config.isProduction || config.databaseUrl !== undefined) return;
  const names = [...otherNames, "DATABASE_URL"].join(" or ");
  throw new DatabaseNotReadyError(
    `NODE_ENV is production: set ${names}. The embedded PostgreSQL is then for npm start only`,
  );
}
