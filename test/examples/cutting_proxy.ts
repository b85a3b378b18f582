import http from "node:http";
import type { AddressInfo } from "node:net";
import type { ExecutionContext } from "ava";
import { randomFrom } from "../helpers/random.ts";

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

  function placeOfCut(request: http.IncomingMessage): Place | undefined {
    const { method = "", url = "", headers } = request;
    const isStream = url.split("?")[0]?.endsWith("/stream") === true;
    if (isStream) return "stream";
    const name = `${method} ${url} ${String(headers["idempotency-key"])}`;
    const before = cutsInARow.get(name) ?? 0;
    const isCut = before < MOST_CUTS_IN_A_ROW && random.chance(CHANCE);
    cutsInARow.set(name, isCut ? before + 1 : 0);
    return isCut ? random.anyOf(["before", "after", "middle"] as const) : undefined;
  }

  const server = http.createServer((request, response) => {
    void (async () => {
      const { method, url = "", headers } = request;
      const body = await readAll(request);
      const place = placeOfCut(request);
      const cut = () => {
        if (place !== undefined) cuts[place]++;
        response.destroy();
      };
      if (place === "before") {
        cut();
        return;
      }
      const forwarded = http.request(target + url, { method, headers, agent: false }, (answer) => {
        const begin = () => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          // So that the head of a stream goes out before its first event.
          response.flushHeaders();
        };
        if (place === "stream" && answer.statusCode === 200) {
          begin();
          passOn(answer, { response, most: random.between(200, 6000), cut });
          return;
        }
        void readAll(answer).then((whole) => {
          if (place === "after") {
            cut();
            return;
          }
          begin();
          if (place !== "middle") response.end(whole);
          else response.write(whole.subarray(0, whole.length / 2), cut);
        }, cut);
      });
      forwarded.on("error", () => response.destroy());
      response.on("close", () => forwarded.destroy());
      forwarded.end(body);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, cuts };
}

async function readAll(message: http.IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

interface Passing {
  response: http.ServerResponse;
  /** Bytes until the cut. */
  most: number;
  cut: () => void;
}

/** Passes so many bytes of a stream on, wherever its frames end, and cuts it. */
function passOn(answer: http.IncomingMessage, { response, most, cut }: Passing): void {
  let left = most;
  answer.on("error", () => response.destroy());
  answer.on("end", () => response.end());
  answer.on("data", (piece: Buffer) => {
    if (left <= 0) return;
    const passed = piece.subarray(0, left);
    left -= passed.length;
    if (left > 0) response.write(passed);
    else response.write(passed, cut);
  });
}
