import { once } from "node:events";
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { openMover } from "./moves.ts";
import { anyUser, openPlacer } from "./orders.ts";
import { otherSide } from "./primaries.ts";
import type { Exchange, Side } from "./primaries.ts";

/**
 * The process that is killed: movers that move cash to and fro, and an order after each move. It
 * sends the references of moves that were decided. A mover whose move was cut goes on with new
 * sessions, and leaves the move to recovery.
 */

const MOVERS = 4;
const MOST_CENTS = 500;
/** Of a transaction. */
const MOST_MOVES = 4;
const RETRY_MS = 50;

const [exchange] = (await once(process, "message")) as [Exchange];
process.once("disconnect", () => process.exit(0));
await Promise.all(Array.from({ length: MOVERS }, moveOnAndOn));

async function moveOnAndOn(): Promise<never> {
  for (;;) {
    try {
      await moveUntilCut();
    } catch {
      await delay(RETRY_MS);
    }
  }
}

/** Moves until something fails, be it that a lock was not to be had. */
async function moveUntilCut(): Promise<void> {
  const [mover, placer] = await Promise.all([openMover(exchange.addresses), openPlacer(exchange)]);
  try {
    for (;;) {
      const user = anyUser(exchange);
      const from: Side = randomInt(3) === 0 ? otherSide(user.home) : user.home;
      const users = [
        user,
        ...Array.from({ length: randomInt(MOST_MOVES) }, () => anyUser(exchange)),
      ];
      await mover.move(
        from,
        users.map((one) => ({ user: one, amountCents: 1 + randomInt(MOST_CENTS) })),
        (references) => process.send!(references),
      );
      await placer.place(otherSide(from), user);
    }
  } finally {
    await Promise.all([mover.end(), placer.end()]);
  }
}
