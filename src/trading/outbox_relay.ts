import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { relayOutbox } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";

export interface AnnouncerOptions {
  pool: Pool;
  logger: Logger;
}

/** Sends what committed commands have to tell to listeners, soon after they committed. */
export interface Announcer {
  /** A command was committed: there may be something to send. */
  ring: () => void;
  /** Sends what is left and stops. */
  close: () => Promise<void>;
}

/** Under load, what is announced within this time goes out together. */
const GAP_MS = 5;
/** Commands of operators and of processes that ended too soon ring nobody's bell. */
const ROUND_MS = 100;

/**
 * Commands only write down what they have to announce: notifying in their own transactions would
 * make the commits of all markets wait for each other. This sends it, one call at a time.
 */
export function createAnnouncer({ pool, logger }: AnnouncerOptions): Announcer {
  let running: Promise<void> | undefined;
  let rung = false;
  const rounds = setInterval(ring, ROUND_MS);
  rounds.unref();

  function ring(): void {
    rung = true;
    running ??= run().finally(() => (running = undefined));
  }

  async function run(): Promise<void> {
    while (rung) {
      rung = false;
      try {
        const sent = await withRetries(pool, relayOutbox, { repeatable: true, attempts: 1 });
        if (sent > 0) rung = true;
      } catch (error) {
        // The next round tries again; nothing announced is lost meanwhile.
        logger.debug({ error }, "could not announce");
        return;
      }
      if (rung) await delay(GAP_MS);
    }
  }

  async function close(): Promise<void> {
    clearInterval(rounds);
    ring();
    await running;
  }

  return { ring, close };
}
