import { once } from "node:events";
import http from "node:http";
import { buffer } from "node:stream/consumers";
import type { ExecutionContext } from "ava";
import { serveLocally } from "./local_server.ts";

/** A request that a proxy has read, and that the service does not have yet. */
export interface Passage {
  request: http.IncomingMessage;
  /** Goes to the client. */
  response: http.ServerResponse;
  /** Sends the request to the service. Returns its answer, which the client does not have yet. */
  forward: () => Promise<http.IncomingMessage>;
}

/**
 * Listens until the test ends, and returns the URL. `pass` decides what becomes of each request and
 * of its answer. The client's connection breaks when `pass` fails.
 */
export async function openForwardingProxy(
  t: ExecutionContext,
  target: string,
  pass: (passage: Passage) => Promise<void>,
): Promise<string> {
  return await serveLocally(t, (request, response) => {
    const breakOff = () => response.destroy();
    void buffer(request)
      .then((body) => pass({ request, response, forward: () => send(body) }))
      .catch(breakOff);

    async function send(body: Buffer): Promise<http.IncomingMessage> {
      const { method, url = "", headers } = request;
      const forwarded = http.request(target + url, { method, headers, agent: false });
      forwarded.on("error", breakOff);
      response.on("close", () => forwarded.destroy());
      forwarded.end(body);
      const [answer] = await once(forwarded, "response");
      return answer;
    }
  });
}

/** Passes on the status and the headers of an answer: those of a stream before its first event. */
export function passHead(answer: http.IncomingMessage, response: http.ServerResponse): void {
  response.writeHead(answer.statusCode!, answer.headers);
  response.flushHeaders();
}
