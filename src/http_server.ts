import { randomUUID } from "node:crypto";
import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { clientAddressOf } from "./client_address.ts";
import { createConnections } from "./http_connections.ts";
import type { Connections, ConnectionsOptions } from "./http_connections.ts";
import { skipBody } from "./http_parser.ts";
import { startTimer } from "./later.ts";
import type { Later } from "./later.ts";

/** Those of connections are for tests. */
export interface ListenOptions extends ConnectionsOptions {
  /** 0 picks a free port. */
  port: number;
  host: string;
  /** How long closing may wait for requests that are under way. */
  closingTimeoutMs?: number;
  /** For tests: how long a request may take to arrive. */
  requestTimeoutMs?: number;
  /** Whether to keep a connection that was made. Without it, all are kept. */
  admit?: (socket: Socket) => boolean;
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
/** At once. More than the event streams of a process. */
const MAX_CONNECTIONS = 25_000;

/** Of an address in a second, in bodies in chunks. Ordinary clients send pieces of some KB. */
const MOST_SMALL_PIECES = 10_000;
const SMALL_BYTES = 256;
const PIECES_COUNT_MS = 1000;

const CLOSING_TIMEOUT_MS = 10_000;
/** For requests that are on their way when the server begins to close. */
const LAST_REQUESTS_MS = 250;
const CLOSING_POLL_MS = 20;

/** Listens, and resolves once it does. */
export async function listen(
  handler: RequestListener,
  options: ListenOptions,
): Promise<HttpServer> {
  const { closingTimeoutMs = CLOSING_TIMEOUT_MS, admit = () => true } = options;
  const connections = createConnections(options);
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    // Its answer would have no body: see isSound.
    requireHostHeader: false,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (socket) => {
    if (admit(socket)) connections.opened(socket);
    else socket.destroy();
  });
  const limitPieces = createPieceLimit(options.later);
  const take = (request: IncomingMessage, response: ServerResponse, answer: RequestListener) => {
    connections.add(request, response, answer);
    limitPieces(request);
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    take(request, response, isSound(request) ? handler : rejectWith(400));
  });
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    take(request, response, rejectWith(417));
  });
  answerClientErrors(server, connections);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    url: urlOf(server.address() as AddressInfo),
    close: () => close(server, connections, closingTimeoutMs),
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/**
 * Node's own close() cuts idle connections at once, and so loses requests that are on their way. Here
 * they stay open a little longer, and the last answer on each asks its client to close.
 */
async function close(server: Server, connections: Connections, timeoutMs: number): Promise<void> {
  connections.askToClose();
  const closed = new Promise<true>((resolve) => {
    // As server.close() does, but for the idle connections.
    NetServer.prototype.close.call(server, () => {
      resolve(true);
    });
  });
  const began = performance.now();
  for (let turn = 1; !(await Promise.race([closed, delay(CLOSING_POLL_MS, false)])); turn++) {
    // Counts turns, not time: on a busy machine the process may not have read what has arrived.
    if (turn * CLOSING_POLL_MS > LAST_REQUESTS_MS) {
      server.closeIdleConnections();
      // For Node, a connection that has sent nothing is not idle.
      connections.cutUnused();
    }
    if (performance.now() - began > timeoutMs) server.closeAllConnections();
  }
}

/**
 * Whether the app can take this request: Express fails on some targets. Of two headers that say who
 * is meant, a proxy might have taken the other one.
 */
function isSound({ url, headers, headersDistinct, httpVersion }: IncomingMessage): boolean {
  const isTwice = (name: string) => (headersDistinct[name]?.length ?? 0) > 1;
  if (isTwice("host") || isTwice("authorization")) return false;
  return isTarget(url) && (headers.host !== undefined || httpVersion === "1.0");
}

/** Whether this is a path, `*` or a URL. */
function isTarget(target = ""): boolean {
  return target.startsWith("/") || target === "*" || URL.canParse(target);
}

/**
 * Cuts the connection of a body if its address sends more small chunks than clients do. A chunk of one
 * byte is six on the wire, and is handled as one of 64 KiB is.
 */
function createPieceLimit(later: Later = startTimer): (request: IncomingMessage) => void {
  /** By address. */
  const counts = new Map<string, number>();

  function count(address: string): number {
    if (counts.size === 0) {
      later(() => {
        counts.clear();
      }, PIECES_COUNT_MS);
    }
    const number = (counts.get(address) ?? 0) + 1;
    counts.set(address, number);
    return number;
  }

  return (request) => {
    const { headers, socket } = request;
    if (headers["transfer-encoding"] === undefined) return;
    const address = clientAddressOf({ ip: socket.remoteAddress });
    const push = request.push.bind(request);
    request.push = (piece: Buffer | null) => {
      const isSmall = piece !== null && piece.length < SMALL_BYTES;
      if (!isSmall || count(address) <= MOST_SMALL_PIECES) return push(piece);
      // Its end neither: a handler must not take what it has for the whole.
      request.push = () => false;
      skipBody(socket);
      socket.destroy();
      return false;
    };
  };
}

/** Answers what is not HTTP, arrives too slowly, or asks for a tunnel. */
function answerClientErrors(server: Server, connections: Connections): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const status = statusOfClientError.get(error.code ?? "") ?? 400;
    if (error.code === "ECONNRESET") socket.destroy();
    else rejectRest(connections, socket, status);
  });
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
    // Node has left the socket to us.
    socket.on("error", () => socket.destroy());
    rejectRest(connections, socket, 400);
  });
}

/**
 * Answers what the server cannot read, and closes the connection. A request before it keeps the only
 * answer that it gets: its client must not take another one for it.
 */
function rejectRest(connections: Connections, socket: Duplex, status: number): void {
  const latest = connections.latestOf(socket);
  const isComplete = latest?.request.complete ?? true;
  const isAnswering = latest?.response.headersSent === true;
  const isAnswered = isAnswering && latest.response.writableEnded;
  if (!socket.writable || (isAnswering && !(isAnswered && isComplete))) socket.destroy();
  else if (latest === undefined || isAnswered) rejectMalformed(socket, status);
  else if (isComplete) latest.response.setHeader("Connection", "close");
  else if (latest.hasBegun) rejectMalformed(socket, status);
  else latest.handler = rejectWith(status);
}

/** Answers a request instead of the app. The connection closes behind it. */
function rejectWith(status: number): RequestListener {
  return (_request, response) => {
    response.statusCode = status;
    for (const [name, value] of rejectionHeaders()) response.setHeader(name, value);
    response.end(rejectionBody(status));
  };
}

/** Answers where there is no request to answer, and closes the connection. */
function rejectMalformed(socket: Duplex, status: number): void {
  const body = rejectionBody(status);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...rejectionHeaders().map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // A client that goes on writing would keep the connection open.
  const destroyed = setTimeout(() => socket.destroy(), LAST_ANSWER_MS).unref();
  socket.once("close", () => {
    clearTimeout(destroyed);
  });
}

const rejectionBody = (status: number): string => JSON.stringify({ error: STATUS_CODES[status] });

const rejectionHeaders = (): [name: string, value: string][] => [
  ["Content-Type", JSON_TYPE],
  ["Cache-Control", "no-store"],
  ["X-Request-Id", randomUUID()],
  ["X-Error-Code", "INVALID_REQUEST"],
  ["Connection", "close"],
];

const statusOfClientError = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);

const JSON_TYPE = "application/json; charset=utf-8";

/** Answers with text: JSON unless given. It is not stored unless a header allows it. */
export function writeText(
  response: ServerResponse,
  status: number,
  text: string | Uint8Array,
  contentType = JSON_TYPE,
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  // Shared caches keep only what is allowed explicitly.
  if (!response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", "no-store");
  response.end(text);
}
