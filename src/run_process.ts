import closeWithGrace from "close-with-grace";
import type { Logger } from "pino";
import { readConfig } from "./config.ts";
import type { Config } from "./config.ts";
import { makeLogger, tellError } from "./logger.ts";

/** What a long-running process starts from. */
export interface ProcessContext {
  config: Config;
  logger: Logger;
  /** For people and scripts: a line on standard output. */
  print: (line: string) => void;
  /** Registers what must be closed; what was opened last is closed first. */
  onClose: (close: () => Promise<unknown>) => void;
}

/** More than what closing the parts may take together. */
const CLOSING_TIMEOUT_MS = 30_000;

/**
 * Runs a process until a signal ends it: configuration, log, and an orderly end, whether it comes
 * by a signal, by an unforeseen error, or because the start failed.
 */
export async function runProcess(start: (context: ProcessContext) => Promise<void>): Promise<void> {
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  };
  const config = configOrEnd();
  const logger = makeLogger(config.logLevel);
  closeWithGrace({ delay: CLOSING_TIMEOUT_MS, logger }, async ({ err, signal }) => {
    if (err) logger.fatal({ error: err }, "unforeseen error: closing");
    else logger.info({ signal }, "closing");
    await closeAll();
  });
  try {
    await start({ config, logger, print, onClose: (close) => closers.push(close) });
  } catch (error) {
    process.stderr.write(`${tellError(error)}\n`);
    await closeAll();
    process.exit(1);
  }
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
