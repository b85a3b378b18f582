import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface ConnectionsOptions {
  /** How long a client may take nothing of an answer that is complete. */
  stuckMs?: number;
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
  /** Carries out a request in its turn. Cuts a connection on which too many wait. */
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
  /** Requests without complete answers. The first one has begun. */
  line: Exchange[];
  latest: Exchange | undefined;
}

/**
 * Node reads 64 KiB at once and makes a request of whatever is in them, 4 to 7 KB for each. So a
 * client that sends more ahead is cut: to let them wait would cost a hundred times what they cost it.
 */
const LINE_CAP = 100;
const STUCK_MS = 30_000;
/** What is read and dropped of a body that goes on when the request is answered. */
const MOST_DROPPED_BYTES = 1024 * 1024;

export function createConnections({ stuckMs = STUCK_MS }: ConnectionsOptions = {}): Connections {
  const connections = new Map<Duplex, Connection>();
  let isClosing = false;

  function opened(socket: Socket): void {
    connections.set(socket, { socket, line: [], latest: undefined });
    socket.once("close", () => connections.delete(socket));
    // Node resumes it after each request and whenever an answer has been taken.
    socket.on("resume", () => {
      pauseIfLined(socket);
    });
  }

  function pauseIfLined(socket: Socket): void {
    if ((connections.get(socket)?.line.length ?? 0) > 1) socket.pause();
  }

  function add(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    const { socket } = request;
    const connection = connections.get(socket);
    // What came in one piece with requests that were too many still arrives here.
    if (connection === undefined || socket.destroyed) return;
    const { line } = connection;
    const exchange: Exchange = { request, response, handler, hasBegun: false };
    connection.latest = exchange;
    line.push(exchange);
    response.once("close", () => {
      line.shift();
      const [next] = line;
      if (next !== undefined && socket.writable) begin(next, connection);
      if (line.length === 1) socket.resume();
    });
    if (line.length === 1) begin(exchange, connection);
    else if (line.length > LINE_CAP) socket.destroy();
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
      process.nextTick(limitTaking, response);
    });
    handler(request, response);
  }

  /**
   * Reads on for 1 MiB, so that a client can read its answer before it is cut. The listener is there
   * before the answer ends: after that, Node would drop the rest without a bound.
   */
  function dropRest(request: IncomingMessage): void {
    if (request.complete) return;
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > MOST_DROPPED_BYTES) request.socket.destroy();
    });
    request.resume();
  }

  function limitTaking(response: ServerResponse): void {
    if (response.writableFinished || response.destroyed) return;
    response.setTimeout(stuckMs, () => response.destroy());
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
