import { randomUUID } from "node:crypto";
import { createServer, STATUS_CODES } from "node:http";
import type { RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

export interface ListenOptions {
  /** 0 picks a free port. */
  port: number;
  host: string;
  /** How long closing may wait for requests that are under way. */
  closingTimeoutMs?: number;
  /** For tests: how long a request may take to arrive. */
  requestTimeoutMs?: number;
}

/** An HTTP server that listens. */
export interface HttpServer {
  /** Such as http://127.0.0.1:3000. */
  url: string;
  /**
   * Accepts no more connections, answers the requests of the open ones, and resolves when all are
   * closed.
   */
  close: () => Promise<void>;
}

/** Longer than the idle time of usual load balancers: they must close connections first. */
const KEEP_ALIVE_MS = 65_000;
/** For a request to arrive completely. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often Node looks for requests that take too long. */
const CHECK_CONNECTIONS_MS = 1000;
/** For a client to read the rejection of a malformed request, even if it goes on writing. */
const LAST_ANSWER_MS = 1000;

const CLOSING_TIMEOUT_MS = 10_000;
/** For requests that are on their way when the server begins to close. */
const LAST_REQUESTS_MS = 250;
const CLOSING_POLL_MS = 20;

/** Listens, and resolves once it does. */
export async function listen(
  handler: RequestListener,
  options: ListenOptions,
): Promise<HttpServer> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    },
    (request, response) => {
      if (isTarget(request.url)) handler(request, response);
      else rejectMalformed(request.socket, 400);
    },
  );
  answerClientErrors(server);
  const closing = prepareClosing(server, options.closingTimeoutMs ?? CLOSING_TIMEOUT_MS);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { url: urlOf(server.address() as AddressInfo), close: closing };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/**
 * Node's own close() cuts idle connections at once, and so loses requests that are on their way. Here
 * they stay open a little longer, and each answer asks its client to close.
 */
function prepareClosing(server: Server, timeoutMs: number): () => Promise<void> {
  const sockets = new Set<Socket>();
  const unanswered = new Set<ServerResponse>();
  let closing = false;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.prependListener("request", (_request, response: ServerResponse) => {
    if (closing) response.setHeader("Connection", "close");
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
  });

  return async () => {
    closing = true;
    for (const response of unanswered) {
      if (!response.headersSent) response.setHeader("Connection", "close");
    }
    const closed = new Promise<true>((resolve) => {
      // As server.close() does, but for the idle connections.
      NetServer.prototype.close.call(server, () => {
        resolve(true);
      });
    });
    const began = Date.now();
    for (let turn = 1; !(await Promise.race([closed, delay(CLOSING_POLL_MS, false)])); turn++) {
      // Counts turns, not time: on a busy machine the process may not have read what has arrived.
      if (turn * CLOSING_POLL_MS > LAST_REQUESTS_MS) closeUnused(server, sockets);
      if (Date.now() - began > timeoutMs) server.closeAllConnections();
    }
  };
}

/** For Node, a connection that has sent nothing is not idle. */
function closeUnused(server: Server, sockets: Set<Socket>): void {
  server.closeIdleConnections();
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
}

/** Whether this is a path, `*` or a URL. Express fails on other targets. */
function isTarget(target = ""): boolean {
  return target.startsWith("/") || target === "*" || URL.canParse(target);
}

/**
 * Answers what is not HTTP, or arrives too slowly. A request before it on the connection keeps the
 * only answer that it gets: its client must not take another one for it.
 */
function answerClientErrors(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener("request", ({ socket }, response: ServerResponse) => {
    answers.set(socket, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const last = answers.get(socket);
    const isComplete = last?.req.complete ?? true;
    const isUnanswered = last?.headersSent === false;
    const isUnderWay = last?.headersSent === true && !(last.writableEnded && isComplete);
    if (error.code === "ECONNRESET" || !socket.writable || isUnderWay) socket.destroy();
    else if (isUnanswered && isComplete) last.setHeader("Connection", "close");
    else rejectMalformed(socket, statusOfClientError.get(error.code ?? "") ?? 400);
  });
}

/** Answers instead of the app, and closes the connection. */
function rejectMalformed(socket: Duplex, status: number): void {
  const reason = STATUS_CODES[status] ?? "";
  const body = JSON.stringify({ error: reason });
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    `X-Request-Id: ${randomUUID()}`,
    "X-Error-Code: INVALID_REQUEST",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // A client that goes on writing would keep the connection open.
  const destroyed = setTimeout(() => socket.destroy(), LAST_ANSWER_MS).unref();
  socket.once("close", () => {
    clearTimeout(destroyed);
  });
}

const statusOfClientError = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);

/** Answers with text: JSON unless given. It is not stored unless a header allows it. */
export function writeText(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = "application/json; charset=utf-8",
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  // Shared caches keep only what is allowed explicitly.
  if (!response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", "no-store");
  response.end(text);
}
