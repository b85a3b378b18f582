import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { median } from "./rounds.ts";

/**
 * The process that loads an HTTP server: so many connections that are kept alive, each of which
 * sends a request when it has the answer to the one before. It writes ready bytes to bare sockets
 * and reads no more of an answer than its status and its end, for its work takes from the server's
 * processor. Started by fork; takes one task after another.
 */

/** In a request, the place of an idempotency key: each time it is sent, another one is put there. */
export const KEY_PLACE = "ffffffff-ffff-4fff-bfff-ffffffffffff";

/** What to do, for each connection the requests that it sends by turns. */
export interface LoadTask {
  url: string;
  connections: string[][];
  milliseconds: number;
}

/** What came of it: the answers in that time by status, and the median time to have one. */
export interface LoadResult {
  perSecond: number;
  medianMs: number;
  statuses: Record<string, number>;
}

/** The number of answers with this status; throws if there are others. */
export function countAnswers({ statuses }: LoadResult, expected: string): number {
  const { [expected]: count = 0, ...others } = statuses;
  if (Object.keys(others).length > 0) throw new Error(`HTTP answers: ${JSON.stringify(statuses)}`);
  return count;
}

/** One request as it goes over the wire. */
export function formatPost(path: string, apiKey: string, body: object): string {
  const text = JSON.stringify(body);
  return [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${apiKey}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "",
    text,
  ].join("\r\n");
}

/** The same for a read, maybe of a client at another address behind a proxy. */
export function formatGet(path: string, address?: string): string {
  const from = address === undefined ? [] : [`X-Forwarded-For: ${address}`];
  return [`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", ...from, "", ""].join("\r\n");
}

if (process.send !== undefined) {
  process.on("message", (task: LoadTask) => {
    void load(task).then((result) => process.send?.(result));
  });
}

async function load({ url, connections, milliseconds }: LoadTask): Promise<LoadResult> {
  const statuses: Record<string, number> = {};
  const times: number[] = [];
  const began = performance.now();
  const until = began + milliseconds;
  await Promise.all(
    connections.map((requests) =>
      converse(
        url,
        requests.map((request) => Buffer.from(request)),
        (status, tookMs) => {
          statuses[status] = (statuses[status] ?? 0) + 1;
          times.push(tookMs);
          return performance.now() < until;
        },
      ),
    ),
  );
  const perSecond = (times.length * 1000) / (performance.now() - began);
  return { perSecond, medianMs: median(times), statuses };
}

/** Sends one request after another while `onAnswer` says so. */
async function converse(
  url: string,
  requests: Buffer[],
  onAnswer: (status: string, tookMs: number) => boolean,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const keyPlaces = requests.map((request) => request.indexOf(KEY_PLACE));
  let count = 0;
  let sentAt = 0;
  const send = () => {
    const index = count++ % requests.length;
    const [request, keyPlace = -1] = [requests[index], keyPlaces[index]];
    if (request === undefined) return;
    if (keyPlace >= 0) request.write(randomUUID(), keyPlace, "latin1");
    sentAt = performance.now();
    socket.write(request);
  };
  await new Promise<void>((done, fail) => {
    let received = "";
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const status = completeStatus(received);
      if (status === undefined) return;
      received = "";
      if (onAnswer(status, performance.now() - sentAt)) send();
      else socket.end();
    });
    socket.on("error", fail);
    socket.on("close", () => {
      done();
    });
  });
}

/** The status of an answer once all of it is there. */
function completeStatus(received: string): string | undefined {
  const endOfHead = received.indexOf("\r\n\r\n");
  if (endOfHead < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received)?.[1];
  const isComplete = received.length >= endOfHead + 4 + Number(length);
  return isComplete ? received.slice(9, 12) : undefined;
}
