import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clientAddressOf } from "./client_address.ts";
import { stopParsing } from "./http_parser.ts";
import { startTimer } from "./later.ts";
import type { Later } from "./later.ts";
import { createTally } from "./tally.ts";

export interface ConnectionsOptions {
  /** How long a client may take nothing of an answer that is complete. */
  stuckMs?: number;
  later?: Later;
}

/** A request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Answers the request when its turn comes. */
  handler: RequestListener;
  /** Whether its turn has come. */
  hasBegun: boolean;
}

/**
 * The connections of a server. The requests of each are carried out one after another, in their
 * order: so a client gets no more answers than it takes, and the server holds one answer at most for
 * it. While requests wait, no further ones are read.
 */
export interface Connections {
  opened: (socket: Socket) => void;
  /** Carries out a request in its turn. Cuts its connection if too many of its address wait. */
  add: (request: IncomingMessage, response: ServerResponse, handler: RequestListener) => void;
  /** The last request that came on a connection, also if it is answered. */
  latestOf: (socket: Duplex) => Exchange | undefined;
  /** From now on the last answer on each connection asks its client to close. */
  askToClose: () => void;
  /** Cuts those that have sent nothing. */
  cutUnused: () => void;
}

interface Connection {
  socket: Socket;
  address: string;
  /** Requests without complete answers. The first one has begun. */
  line: Exchange[];
  /** How many of them count as waiting for their address. */
  waiting: number;
  latest: Exchange | undefined;
}

/**
 * Requests of an address that wait, on all its connections. Node reads 64 KiB at once and makes a
 * request of whatever is in them, 4 to 7 KB for each. So a client that sends more ahead is cut: to let
 * them wait would cost a hundred times what they cost it.
 */
const MOST_WAITING = 100;
/** How long requests still count that waited when their connection was closed. */
const COUNTED_MS = 10_000;
const STUCK_MS = 30_000;
/** What is read and dropped of a body that goes on when the request is answered. */
const MOST_DROPPED_BYTES = 1024 * 1024;

export function createConnections({
  stuckMs = STUCK_MS,
  later = startTimer,
}: ConnectionsOptions = {}): Connections {
  const connections = new Map<Duplex, Connection>();
  /** By address. */
  const waiting = createTally();
  let isClosing = false;

  function opened(socket: Socket): void {
    const address = clientAddressOf({ ip: socket.remoteAddress });
    const connection: Connection = { socket, address, line: [], waiting: 0, latest: undefined };
    connections.set(socket, connection);
    socket.once("close", () => {
      connections.delete(socket);
      const left = connection.waiting;
      if (left === 0) return;
      later(() => {
        waiting.add(address, -left);
      }, COUNTED_MS);
    });
    // Node resumes it after each request and whenever an answer has been taken.
    socket.on("resume", () => {
      pauseIfLined(socket);
    });
  }

  function pauseIfLined(socket: Socket): void {
    if ((connections.get(socket)?.line.length ?? 0) > 1) socket.pause();
  }

  function countWaiting(connection: Connection, by: 1 | -1): void {
    connection.waiting += by;
    waiting.add(connection.address, by);
  }

  function add(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    const { socket } = request;
    const connection = connections.get(socket);
    // What came in one piece with requests that were too many still arrives here.
    if (connection === undefined || socket.destroyed) {
      stopParsing(socket);
      return;
    }
    const { line, latest } = connection;
    const exchange: Exchange = { request, response, handler, hasBegun: false };
    connection.latest = exchange;
    line.push(exchange);
    response.once("close", () => {
      line.shift();
      const [next] = line;
      if (next !== undefined && socket.writable) {
        countWaiting(connection, -1);
        begin(next, connection);
      }
      if (line.length === 1) socket.resume();
    });
    if (line.length === 1) {
      begin(exchange, connection);
      return;
    }
    countWaiting(connection, 1);
    // A client may have the whole answer before it is known here that the system has taken it.
    const isAhead = latest?.response.writableEnded !== true;
    if (isAhead && waiting.of(connection.address) > MOST_WAITING) socket.destroy();
    // Once Node has parsed all that it has read.
    else process.nextTick(pauseIfLined, socket);
  }

  function begin(exchange: Exchange, { latest }: Connection): void {
    const { request, response, handler } = exchange;
    exchange.hasBegun = true;
    if (isClosing && latest === exchange) response.setHeader("Connection", "close");
    // The handler may take its time, and a stream has rules of its own.
    request.socket.setTimeout(0);
    response.once("prefinish", () => {
      dropRest(request);
      // Node sets the time of the socket when it has parsed a request, maybe right after this.
      process.nextTick(limitTaking, response, stuckMs);
    });
    handler(request, response);
  }

  return {
    opened,
    add,
    latestOf: (socket) => connections.get(socket)?.latest,
    askToClose: () => {
      isClosing = true;
      for (const { line } of connections.values()) {
        const last = line.at(-1)?.response;
        if (last?.headersSent === false) last.setHeader("Connection", "close");
      }
    },
    cutUnused: () => {
      for (const { socket } of connections.values()) {
        if (socket.bytesRead === 0) socket.destroy();
      }
    },
  };
}

/**
 * Reads on for 1 MiB, so that a client can read its answer before it is cut. The listener is there
 * before the answer ends: after that, Node would drop the rest without a bound.
 */
function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  // What the wire carries: the heads of chunks may be longer than what is in them.
  const most = socket.bytesRead + MOST_DROPPED_BYTES;
  request.on("data", () => {
    if (socket.bytesRead > most) socket.destroy();
  });
  request.resume();
}

function limitTaking(response: ServerResponse, stuckMs: number): void {
  if (response.writableFinished || response.destroyed) return;
  response.setTimeout(stuckMs, () => response.destroy());
}
