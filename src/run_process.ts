import type { Logger } from "pino";
import { readConfig } from "./config.ts";
import type { Config } from "./config.ts";
import { DatabaseNotReadyError } from "./database/not_ready.ts";
import { isDatabaseAway, waitForDatabase } from "./database/wait_for_database.ts";
import type { WaitOptions } from "./database/wait_for_database.ts";
import { makeLogger, tellError } from "./logger.ts";

/** What a long-running process starts from. */
export interface ProcessContext {
  config: Config;
  logger: Logger;
  /** For people and scripts: a line on standard output. */
  print: (line: string) => void;
  /** Registers what must be closed; what was opened last is closed first. */
  onClose: (close: () => Promise<unknown>, options?: CloserOptions) => void;
  /** Aborted when the process is to end: a start that waits for something gives up. */
  ending: AbortSignal;
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
  /** Closed even when the process is forced to end: it would otherwise outlive the process. */
  outlivesUs?: boolean;
}

interface Closer {
  close: () => Promise<unknown>;
  outlivesUs: boolean;
}

/** Each of these asks for an orderly end. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/**
 * A signal that comes again within this time is the same request: a terminal and systemd signal the
 * whole process group, and npm passes on the one that it got. A later one forces the end.
 */
const SAME_REQUEST_MS = 5000;
/** More than what closing the parts may take together. After it, the end is forced. */
const CLOSING_TIMEOUT_MS = 30_000;
/** For closing what would outlive a process that is forced to end. */
const FORCED_CLOSING_TIMEOUT_MS = 15_000;

/**
 * Runs a process until a signal ends it: configuration, log, and an orderly end, whether it comes
 * by a signal, by an unforeseen error, or because the start failed.
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
    // What a start is still opening can be closed when it is done or has given up.
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
        closers.filter(({ outlivesUs }) => outlivesUs).map(({ close }) => close()),
      );
    await closeOutliving();
    // A start that goes on may be about to open more of it.
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
    // The queue of jobs does not await the statements by which it puts jobs back.
    if (isDatabaseAway(error)) logger.warn({ error }, "the database lost a statement");
    else endUnforeseen(error);
  });

  const onClose: ProcessContext["onClose"] = (close, { outlivesUs = false } = {}) => {
    closers.push({ close: onlyOnce(close), outlivesUs });
  };

  const openWhenReady: ProcessContext["openWhenReady"] = async (open, onWaiting) => {
    let opening: ReturnType<typeof open> | undefined;
    onClose(async () => {
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    });
    const options = { logger, signal: ending.signal, ...(onWaiting && { onWaiting }) };
    return await waitForDatabase(() => (opening = open()), options);
  };

  started = start({
    config,
    logger,
    print: (line) => process.stdout.write(`${line}\n`),
    onClose,
    ending: ending.signal,
    openWhenReady,
  });
  try {
    await started;
  } catch (error) {
    if (ending.signal.aborted) return;
    process.stderr.write(`${tellError(error)}\n`);
    exitCode = 1;
    await end();
  }
}

function onlyOnce(close: () => Promise<unknown>): () => Promise<unknown> {
  let closed: Promise<unknown> | undefined;
  return () => (closed ??= close());
}

/** The configuration, or the end of the process with a line that names what is wrong with it. */
export function configOrEnd(): Config {
  try {
    return readConfig();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

/**
 * Refuses to fall back on the embedded PostgreSQL in production, where a missing variable would
 * otherwise start a process on an empty database of its own.
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
