import type { Request, Response } from "express";
import { clientAddressOf } from "../client_address.ts";

/** Requests of an address that begin, or whose bodies end, in one turn of the event loop. */
const MOST_OF_A_TURN = 8;
/** A body of no more than this is parsed in no time: its end has no turn. */
const SMALL_BODY_BYTES = 2048;

/**
 * Requests that an address sends at once begin over several turns of the event loop, in their order.
 * An answer that waits for nothing is written in the turn in which its request begins, while an order
 * needs several turns. A large body that comes later is parsed when it ends, so its end has a turn
 * too. So however many requests one address sends, on however many connections, a turn stays short for
 * the others.
 */
export function fairTurns() {
  const begun = new Map<string, number>();
  const lines = new Map<string, (() => void)[]>();
  let isSet = false;
  let turn = 0;

  /** Ends the turn that is now. */
  function setTurn(): void {
    if (isSet) return;
    isSet = true;
    setImmediate(() => {
      isSet = false;
      turn++;
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

  function inTurn(address: string, start: () => void): void {
    setTurn();
    const count = begun.get(address) ?? 0;
    const line = lines.get(address);
    if (line !== undefined) line.push(start);
    else if (count >= MOST_OF_A_TURN) lines.set(address, [start]);
    else {
      begun.set(address, count + 1);
      start();
    }
  }

  return (
    request: Pick<Request, "ip" | "headers" | "push">,
    response: Pick<Response, "destroyed">,
    next: () => void,
  ): void => {
    const address = clientAddressOf(request);
    // Its client may have left meanwhile.
    const unlessGone = (work: () => void) => (): void => {
      if (!response.destroyed) work();
    };
    const begin = (): void => {
      if (!mayBeLarge(request)) {
        next();
        return;
      }
      const begunIn = turn;
      let size = 0;
      const push = request.push.bind(request);
      request.push = (piece: Buffer | null) => {
        size += piece?.length ?? 0;
        if (piece !== null || size <= SMALL_BODY_BYTES || turn === begunIn) return push(piece);
        inTurn(
          address,
          unlessGone(() => push(null)),
        );
        return false;
      };
      next();
    };
    inTurn(address, unlessGone(begin));
  };
}

/** Whether a request may have a large body: it says so, or does not say how long its body is. */
function mayBeLarge({ headers }: Pick<Request, "headers">): boolean {
  return (
    headers["transfer-encoding"] !== undefined ||
    Number(headers["content-length"]) > SMALL_BODY_BYTES
  );
}
