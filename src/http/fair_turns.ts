import type { Request, Response } from "express";
import { clientAddressOf } from "../client_address.ts";

/** Requests of an address that begin in one turn of the event loop. */
const MOST_OF_A_TURN = 8;

/**
 * Requests that an address sends at once begin over several turns of the event loop, in their order.
 * An answer that waits for nothing is written in the turn in which its request begins, while an order
 * needs several turns. So however many requests one address sends, on however many connections, a
 * turn stays short for the others.
 */
export function fairTurns() {
  const begun = new Map<string, number>();
  const lines = new Map<string, (() => void)[]>();
  let isSet = false;

  function setTurn(): void {
    if (isSet) return;
    isSet = true;
    setImmediate(() => {
      isSet = false;
      begun.clear();
      if (lines.size > 0) setTurn();
      for (const [address, waiting] of lines) {
        const starting = waiting.splice(0, MOST_OF_A_TURN);
        begun.set(address, starting.length);
        if (waiting.length === 0) lines.delete(address);
        for (const start of starting) start();
      }
    });
  }

  return (
    request: Pick<Request, "ip">,
    response: Pick<Response, "destroyed">,
    next: () => void,
  ): void => {
    const address = clientAddressOf(request);
    setTurn();
    const count = begun.get(address) ?? 0;
    const line = lines.get(address);
    if (line === undefined && count < MOST_OF_A_TURN) {
      begun.set(address, count + 1);
      next();
      return;
    }
    const start = (): void => {
      // Its client may have left meanwhile.
      if (!response.destroyed) next();
    };
    if (line === undefined) lines.set(address, [start]);
    else line.push(start);
  };
}
