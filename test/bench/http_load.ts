import { connect } from "node:net";
import type { Socket } from "node:net";

/**
 * The process that loads an HTTP server: so many connections that are kept alive, each of which
 * sends a request when it has the answer to the one before. It writes ready bytes to bare sockets
 * and reads no more of an answer than its status and its end, for its work takes from the server's
 * processor. Started by fork; takes one task after another.
 */

/** What to do, for each connection the requests that it sends by turns. */
export interface LoadTask {
  url: string;
  connections: string[][];
  milliseconds: number;
}

/** What came of it: the answers in that time by status. */
export interface LoadResult {
  perSecond: number;
  statuses: Record<string, number>;
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

/** The same for a read. */
export function formatGet(path: string): string {
  return [`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", "", ""].join("\r\n");
}

if (process.send !== undefined) {
  process.on("message", (task: LoadTask) => {
    void load(task).then((result) => process.send?.(result));
  });
}

async function load({ url, connections, milliseconds }: LoadTask): Promise<LoadResult> {
  const statuses: Record<string, number> = {};
  const began = performance.now();
  const until = began + milliseconds;
  await Promise.all(
    connections.map((requests) =>
      converse(
        url,
        requests.map((request) => Buffer.from(request)),
        (status) => {
          statuses[status] = (statuses[status] ?? 0) + 1;
          return performance.now() < until;
        },
      ),
    ),
  );
  const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { perSecond: (answers * 1000) / (performance.now() - began), statuses };
}

/** Sends one request after another while `onAnswer` says so. */
async function converse(
  url: string,
  requests: Buffer[],
  onAnswer: (status: string) => boolean,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let place = 0;
  const send = () => {
    const request = requests[place++ % requests.length];
    if (request !== undefined) socket.write(request);
  };
  await new Promise<void>((done, fail) => {
    let received = "";
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const status = completeStatus(received);
      if (status === undefined) return;
      received = "";
      if (onAnswer(status)) send();
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
