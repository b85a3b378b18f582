import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import { MOST_EVENTS } from "./listener.ts";
import type { Listener } from "./listener.ts";

export interface OutboxRelayOptions {
  pool: Pool;
  logger: Logger;
  /** Gets the events that were sent, and need not read them. */
  listener?: Pick<Listener, "lastId" | "take">;
}

/** Sends the events of committed commands to the listeners. */
export interface OutboxRelay {
  /** Call it after a commit: there may be events to send. */
  ring: () => void;
  /** Sends what is left and stops. */
  close: () => Promise<void>;
}

/** Events within this time are sent together: a call costs as much as an order. */
const GATHER_MS = 10;
/** Commands of operators, and of processes that were killed, do not ring. */
const ROUND_MS = 100;

/**
 * Commands only write their events into the outbox: transactions that notify wait for each other when
 * they commit. The relay sends the events, one call at a time.
 */
export function createOutboxRelay({ pool, logger, listener }: OutboxRelayOptions): OutboxRelay {
  const { relayOutbox, sendEvents } = callsOn(pool, api);
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
      await delay(GATHER_MS);
      rung = false;
      try {
        if ((await send()) === MOST_EVENTS) rung = true;
      } catch (error) {
        // The events stay in the outbox, and the next round tries again.
        logger.debug({ error }, "events could not be sent");
        return;
      }
    }
  }

  /** Returns how many events were sent, or more if others sent some. */
  async function send(): Promise<number> {
    const afterId = listener?.lastId();
    if (listener === undefined || afterId === undefined) {
      return await relayOutbox({}, { attempts: 1 });
    }
    const events = await sendEvents({ afterId, most: MOST_EVENTS }, { attempts: 1 });
    listener.take(events);
    return events.length;
  }

  async function close(): Promise<void> {
    clearInterval(rounds);
    ring();
    await running;
  }

  return { ring, close };
}
