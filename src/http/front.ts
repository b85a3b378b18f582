import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { hasCode } from "../has_code.ts";
import { listen } from "../http_server.ts";
import type { HttpServer, ListenOptions } from "../http_server.ts";
import { limitByAddress } from "./address_connections.ts";
import { rejection } from "./problems.ts";
import { sendText } from "./respond.ts";

/** The address of a server, which listens before the server is ready. */
export interface Front {
  url: string;
  /** Sets the reason that `GET /readyz` shows. */
  notReadyBecause: (reason: string) => void;
  /** From now on this handler answers. Its server closes the address. */
  handOver: (handler: RequestListener) => HttpServer;
  close: () => Promise<void>;
}

export interface FrontOptions extends ListenOptions {
  /** Connections that an address may have open at once; 0: any number. */
  addressConnections?: number;
}

/**
 * Listens at once. Until the server takes over, `GET /healthz` answers 200, so that a process which
 * waits for its database is not restarted. Everything else is answered with 503.
 */
export async function openFront(options: FrontOptions): Promise<Front> {
  const { addressConnections = 0, ...listening } = options;
  if (addressConnections > 0) listening.admit = limitByAddress(addressConnections);
  let reason = "starting";
  let handler: RequestListener = answerNotReady;
  const answer: RequestListener = (request, response) => {
    handler(request, response);
  };
  const listener = await listen(answer, listening).catch((error: unknown) => {
    if (hasCode(error, "EADDRINUSE")) (error as Error).message += ": PORT sets another port";
    throw error;
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= listener.close());

  function answerNotReady({ url, method }: IncomingMessage, response: ServerResponse): void {
    const path = url?.split("?")[0];
    const isGet = method === "GET" || method === "HEAD";
    if (isGet && path === "/healthz") send(response, 200, { status: "ok" });
    else if (isGet && path === "/readyz") send(response, 503, { status: "unavailable", reason });
    // The client of a command must know that it had no effect.
    else {
      const { code, body } = rejection(isGet ? "SERVICE_UNAVAILABLE" : "CONFLICT_RETRY");
      if (code !== undefined) response.setHeader("X-Error-Code", code);
      send(response, 503, body);
    }
  }

  return {
    url: listener.url,
    notReadyBecause: (because) => {
      reason = because;
    },
    handOver: (service) => {
      handler = service;
      return { url: listener.url, close };
    },
    close,
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.setHeader("X-Request-Id", randomUUID());
  if (status === 503) response.setHeader("Retry-After", "1");
  sendText(response, status, JSON.stringify(body));
}
