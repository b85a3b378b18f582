import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { ExecutionContext } from "ava";
import { randomFrom } from "../random.ts";
import { openForwardingProxy, passHead } from "./forwarding_proxy.ts";

/**
 * Where a connection breaks: before the service has the request, after it has answered, in the
 * middle of the answer, or of a stream.
 */
type Place = "before" | "after" | "middle" | "stream";

/** A way to the service on which connections break again and again. */
export interface CuttingProxy {
  url: string;
  /** How often it has cut where. */
  cuts: Record<Place, number>;
}

const CHANCE = 0.25;
/** So that a client that repeats its request comes through. */
const MOST_CUTS_IN_A_ROW = 2;

/** Listens until the test ends. */
export async function openCuttingProxy(t: ExecutionContext, target: string): Promise<CuttingProxy> {
  const random = randomFrom("cutting_proxy");
  const cuts: Record<Place, number> = { before: 0, after: 0, middle: 0, stream: 0 };
  const cutsInARow = new Map<string, number>();

  function placeOfCut(request: IncomingMessage): Place | undefined {
    const { method = "", url = "", headers } = request;
    const isStream = url.split("?")[0]?.endsWith("/stream") === true;
    if (isStream) return "stream";
    const name = `${method} ${url} ${String(headers["idempotency-key"])}`;
    const before = cutsInARow.get(name) ?? 0;
    const isCut = before < MOST_CUTS_IN_A_ROW && random.chance(CHANCE);
    cutsInARow.set(name, isCut ? before + 1 : 0);
    return isCut ? random.anyOf(["before", "after", "middle"] as const) : undefined;
  }

  const url = await openForwardingProxy(t, target, async ({ request, response, forward }) => {
    const place = placeOfCut(request);
    const cut = () => {
      if (place !== undefined) cuts[place]++;
      response.destroy();
    };
    if (place === "before") {
      cut();
      return;
    }
    const answer = await forward();
    if (place === "stream" && answer.statusCode === 200) {
      passHead(answer, response);
      await passBeginning(answer, { response, most: random.between(200, 6000), cut });
      return;
    }
    const whole = await buffer(answer);
    if (place === "after") {
      cut();
      return;
    }
    passHead(answer, response);
    if (place === "middle") response.write(whole.subarray(0, whole.length / 2), cut);
    else response.end(whole);
  });
  return { url, cuts };
}

interface Beginning {
  response: ServerResponse;
  /** Bytes until the cut. */
  most: number;
  cut: () => void;
}

/** Passes so many bytes of a stream on, wherever its frames end, and cuts it. */
async function passBeginning(
  answer: IncomingMessage,
  { response, most, cut }: Beginning,
): Promise<void> {
  let left = most;
  for await (const piece of answer) {
    const passed = piece.subarray(0, left);
    left -= passed.length;
    if (left === 0) {
      response.write(passed, cut);
      return;
    }
    response.write(passed);
  }
  response.end();
}
