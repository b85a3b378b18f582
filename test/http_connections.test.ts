import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { RequestListener } from "node:http";
import net from "node:net";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import { listen } from "../src/http_server.ts";
import type { ListenOptions } from "../src/http_server.ts";
import type { Later } from "../src/later.ts";
import { until } from "./helpers/until.ts";

/** What one connection can take of a server, and in which order its requests are answered. */

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`;
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `/${index}`);

interface Client {
  socket: Socket;
  text: () => string;
  closed: Promise<unknown>;
  isClosed: () => boolean;
}

/** Listens, and returns how to connect to it. */
async function serving(
  t: ExecutionContext,
  handler: RequestListener,
  options: Partial<ListenOptions> = {},
) {
  const listener = await listen(handler, { host: "127.0.0.1", port: 0, ...options });
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close();
  });
  const connect = (localAddress = "127.0.0.1"): Client => {
    const port = Number(new URL(listener.url).port);
    const socket = net.connect({ port, host: "127.0.0.1", localAddress });
    sockets.push(socket);
    socket.on("error", () => undefined);
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    // How it is cut depends on what was read.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    return { socket, text: () => text, closed, isClosed: () => socket.closed };
  };
  return { connect, listener };
}

/** An app that answers when it is told to, with the path. */
function answering() {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const handler: RequestListener = (request, response) => {
    begun.push(`${request.method ?? ""} ${request.url ?? ""}`);
    request.resume();
    waiting.push(() => response.end(request.url));
  };
  return { handler, begun, answerNext: () => waiting.shift()?.() };
}

const postInChunks = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
const chunk = (bytes: number, extension = ""): string =>
  `${bytes.toString(16)}${extension}\r\n${"x".repeat(bytes)}\r\n`;
const LAST_CHUNK = "0\r\n\r\n";

/** Answers a body that came to its end with its length. */
const measureBody: RequestListener = (request, response) => {
  let bytes = 0;
  request.on("data", (piece: Buffer) => (bytes += piece.length));
  request.on("end", () => response.end(`${bytes} bytes`));
};

const statusesIn = (text: string) =>
  (text.match(/HTTP\/1\.1 \d+/g) ?? []).map((line) => Number(line.slice(9)));

test("a body that goes on after its answer is dropped, up to 1 MiB, and then cut", async (t) => {
  const { connect } = await serving(t, (_request, response) => {
    response.statusCode = 403;
    response.end();
  });
  const sendAfter = async (length: number, bytes: number): Promise<Client> => {
    const client = connect();
    client.socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    await until("it is answered", async () => statusesIn(client.text()).length === 1);
    client.socket.write(Buffer.alloc(bytes));
    return client;
  };
  const patient = await sendAfter(1_000_000, 1_000_000);
  patient.socket.write(get("/next"));
  await until("the next request is answered", async () => statusesIn(patient.text()).length === 2);
  const endless = await sendAfter(99_999_999_999, 1_200_000);
  await endless.closed;
  t.deepEqual(statusesIn(endless.text()), [403]);
});

test("what is dropped of a body counts with the heads of its chunks", async (t) => {
  const { connect } = await serving(t, (_request, response) => {
    response.statusCode = 403;
    response.end();
  });
  const sendAfter = async (chunks: number): Promise<Client> => {
    const client = connect();
    client.socket.write(postInChunks("/"));
    await until("it is answered", async () => statusesIn(client.text()).length === 1);
    const body = chunk(256, `;a=${"b".repeat(10_000)}`).repeat(chunks) + LAST_CHUNK;
    client.socket.write(body + get("/next"));
    return client;
  };
  const patient = await sendAfter(90);
  await until("the next request is answered", async () => statusesIn(patient.text()).length === 2);
  const endless = await sendAfter(130);
  await until("it is cut", () => Promise.resolve(endless.isClosed()));
  t.deepEqual(statusesIn(endless.text()), [403]);
});

test("10,000 small pieces of an address pass in a second, and any number of larger ones", async (t) => {
  const seconds: (() => void)[] = [];
  const later: Later = (work, ms) => {
    if (ms === 1000) seconds.push(work);
    return () => undefined;
  };
  const ends: number[] = [];
  const { connect } = await serving(
    t,
    (request, response) => {
      measureBody(request, response);
      request.on("end", () => ends.push(1));
    },
    { later },
  );
  const sent = async (pieces: string): Promise<string> => {
    const client = connect();
    client.socket.write(postInChunks("/") + pieces + LAST_CHUNK);
    const isOver = () => Promise.resolve(client.isClosed() || client.text().endsWith("bytes"));
    await until("it is over", isOver);
    return client.text().split("\r\n\r\n").at(-1)!;
  };
  t.is(await sent(chunk(1).repeat(6000)), "6000 bytes");
  t.is(await sent(chunk(255).repeat(3000)), `${255 * 3000} bytes`);
  // Where Node has read so far, a chunk becomes two pieces.
  t.is(await sent(chunk(100_000).repeat(20)), "2000000 bytes");
  t.is(await sent(chunk(1).repeat(1001)), "", "it is cut");
  t.is(ends.length, 3, "a handler takes no part for the whole");
  t.is(await sent(chunk(1)), "");
  t.is(seconds.length, 1);
  seconds.pop()!();
  t.is(await sent(chunk(1).repeat(9000)), "9000 bytes");
  t.is(seconds.length, 1);
});

test("behind an answer, more small pieces are not read: the connection is cut", async (t) => {
  const { connect } = await serving(t, (_request, response) => {
    response.statusCode = 403;
    response.end();
  });
  const client = connect();
  client.socket.write(postInChunks("/"));
  await until("it is answered", async () => statusesIn(client.text()).length === 1);
  client.socket.write(chunk(1).repeat(10_001) + LAST_CHUNK + get("/next"));
  await client.closed;
  t.deepEqual(statusesIn(client.text()), [403]);
});

test("Node makes nothing of the pieces that follow in what it has read", async (t) => {
  let made = 0;
  const seconds: (() => void)[] = [];
  const later: Later = (work, ms) => {
    if (ms === 1000) seconds.push(work);
    return () => undefined;
  };
  const { connect } = await serving(
    t,
    (request, response) => {
      let push: unknown = request.push.bind(request);
      Object.defineProperty(request, "push", {
        get: () => {
          made++;
          return push;
        },
        set: (value) => (push = value),
      });
      measureBody(request, response);
    },
    { later },
  );
  const isAnswered = async (pieces: number): Promise<void> => {
    const client = connect();
    client.socket.write(postInChunks("/") + chunk(1).repeat(pieces) + LAST_CHUNK);
    const isOver = () => Promise.resolve(client.text().endsWith(`\r\n\r\n${pieces} bytes`));
    await until("it is answered", isOver);
  };
  for (let round = 0; round < 3; round++) {
    await isAnswered(9000);
    made = 0;
    const flood = connect();
    flood.socket.write(postInChunks("/") + chunk(1).repeat(10_000));
    await flood.closed;
    t.true(made >= 1000 && made < 1100, `${made} pieces`);
    seconds.pop()!();
    // Node uses its parsers again.
    for (let count = 0; count < 2; count++) await isAnswered(400);
    seconds.pop()!();
  }
});

test("requests of a connection are carried out one after another, in their order", async (t) => {
  const { handler, begun, answerNext } = answering();
  const { connect } = await serving(t, handler);
  const client = connect();
  const paths = numbered(90);
  client.socket.write(paths.map(post).join(""));
  for (const [index, path] of paths.entries()) {
    await until(`${path} has begun`, () => Promise.resolve(begun.length > index));
    t.is(begun.length, index + 1);
    answerNext();
  }
  await until("all are answered", () => Promise.resolve(client.text().endsWith("/89")));
  t.deepEqual(
    begun,
    paths.map((path) => `POST ${path}`),
  );
  t.deepEqual(client.text().match(/\/\d+(?=HTTP|$)/g), paths);
  // The connection goes on.
  client.socket.write(get("/more"));
  await until("it has begun", () => Promise.resolve(begun.length === 91));
});

test("while requests wait, no more are read", async (t) => {
  const { handler, begun, answerNext } = answering();
  const { connect } = await serving(t, handler);
  const client = connect();
  client.socket.write(get("/0") + get("/1"));
  await until("the first has begun", () => Promise.resolve(begun.length === 1));
  // More than the server may hold, and than the kernel takes for it.
  const rest = numbered(400_000).map(get).join("");
  const isTaken = client.socket.write(rest);
  const other = connect();
  other.socket.write(get("/other"));
  await until("another connection is served", () => Promise.resolve(begun.length === 2));
  t.false(isTaken);
  t.false(client.isClosed(), "what is not read does not count");
  t.true(client.socket.writableLength > 0);
  answerNext();
  await until("the second has begun", () => Promise.resolve(begun.length === 3));
  t.deepEqual(begun, ["GET /0", "GET /other", "GET /1"]);
});

test("a connection on which more than 100 requests wait is cut, and they have no effect", async (t) => {
  const { handler, begun } = answering();
  const { connect } = await serving(t, handler);
  const client = connect();
  client.socket.write(numbered(102).map(get).join(""));
  await client.closed;
  t.deepEqual(begun, ["GET /0"]);
  t.is(client.text(), "");
});

test.serial("what came in one piece with them is not parsed to its end", async (t) => {
  let parsed = 0;
  const count = (): unknown => parsed++;
  subscribe("http.server.request.start", count);
  t.teardown(() => unsubscribe("http.server.request.start", count));
  const { connect } = await serving(t, (_request, response) => response.end("here"));
  const served = async (): Promise<void> => {
    const client = connect();
    client.socket.write(get("/"));
    await until("it is answered", () => Promise.resolve(client.text().endsWith("here")));
  };
  // 18 bytes each: all fit into the 64 KiB that Node reads at once.
  const flood = "GET / HTTP/1.1\r\n\r\n".repeat(3600);
  for (let round = 0; round < 3; round++) {
    parsed = 0;
    const client = connect();
    client.socket.write(flood);
    await client.closed;
    t.true(parsed <= 110, `${parsed} are parsed`);
    // Node uses its parsers again.
    await served();
    await served();
  }
});

/** An app that never answers `/wait`, and the others at once, and a clock that tests move. */
async function counting(t: ExecutionContext) {
  const timers: { work: () => void; ms: number }[] = [];
  const later: Later = (work, ms) => {
    timers.push({ work, ms });
    return () => undefined;
  };
  const answers: (() => void)[] = [];
  let bigAnswers = 0;
  const handler: RequestListener = (request, response) => {
    const answer = () => response.end(request.url);
    if (request.url === "/wait") answers.push(answer);
    else if (request.url === "/big") {
      bigAnswers++;
      response.end(Buffer.alloc(8_000_000));
    } else answer();
  };
  const { connect } = await serving(t, handler, { later });
  const begun = async (count: number): Promise<void> => {
    await until(`${count} have begun`, () => Promise.resolve(answers.length >= count));
  };
  /** Sends one request and so many behind it. Returns whether the connection is kept. */
  const isKept = async (behind: number, address: string): Promise<boolean> => {
    const client = connect(address);
    client.socket.write(get("/wait") + get("/next").repeat(behind));
    const count = answers.length + 1;
    await Promise.race([begun(count), client.closed]);
    // What is written to another connection later is read later.
    const other = connect("127.0.0.9");
    other.socket.write(get("/other"));
    await until("another is answered", () => Promise.resolve(other.text().endsWith("/other")));
    await Promise.race([client.closed, delay(50)]);
    return !client.isClosed();
  };
  const answerAll = (): void => {
    for (const answer of answers.splice(0)) answer();
  };
  // A connection on which requests wait is not read, and so not known to be closed.
  t.teardown(answerAll);
  const pass = async (count: number): Promise<void> => {
    await until("they count for a while", () => Promise.resolve(timers.length === count));
    for (const { work, ms } of timers.splice(0)) {
      t.is(ms, 10_000);
      work();
    }
  };
  return { connect, isKept, answerAll, pass, bigAnswers: () => bigAnswers };
}

test("100 requests of an address may wait, on all its connections together", async (t) => {
  const { isKept } = await counting(t);
  for (let connection = 0; connection < 4; connection++) t.true(await isKept(25, "127.0.0.2"));
  t.false(await isKept(1, "127.0.0.2"));
  t.true(await isKept(0, "127.0.0.2"));
  t.true(await isKept(100, "127.0.0.3"));
});

test("those that are answered wait no more", async (t) => {
  const { isKept, answerAll } = await counting(t);
  for (let round = 0; round < 3; round++) {
    t.true(await isKept(100, "127.0.0.2"));
    answerAll();
  }
});

test("those of a connection that was closed count for ten seconds", async (t) => {
  const { connect, isKept, answerAll, pass, bigAnswers } = await counting(t);
  for (let round = 0; round < 3; round++) {
    t.false(await isKept(110, "127.0.0.2"));
    for (let connection = 0; connection < 3; connection++) t.false(await isKept(1, "127.0.0.2"));
    t.true(await isKept(100, "127.0.0.3"), "another address");
    const single = connect("127.0.0.2");
    for (let count = 1; count <= 20; count++) {
      single.socket.write(get("/one"));
      await until("it is answered", () =>
        Promise.resolve(statusesIn(single.text()).length === count),
      );
    }
    // Its answer is complete, and maybe the client knows that earlier than the server.
    const behind = connect("127.0.0.2");
    behind.socket.pause();
    behind.socket.write(get("/big"));
    await until("it is answered", () => Promise.resolve(bigAnswers() === round + 1));
    behind.socket.write(get("/one"));
    await delay(50);
    behind.socket.resume();
    await until("both are answered", () => Promise.resolve(behind.text().endsWith("/one")));
    await pass(1 + 3);
    t.true(await isKept(100, "127.0.0.2"), "all is forgotten");
    t.false(await isKept(1, "127.0.0.2"));
    await pass(1);
    answerAll();
  }
});

test("a client that does not read gets no more answers than it takes", async (t) => {
  let begun = 0;
  const big = Buffer.alloc(8_000_000);
  const { connect } = await serving(t, (_request, response) => {
    begun++;
    response.end(big);
  });
  const client = connect();
  client.socket.pause();
  client.socket.write(numbered(50).map(get).join(""));
  await until("it is answered", () => Promise.resolve(begun > 0));
  const other = connect();
  other.socket.write(get("/other"));
  await until("another is answered", () =>
    Promise.resolve(other.text().length > big.length && begun > 1),
  );
  t.is(begun, 2);
});

const STUCK_MS = 1500;

test("a client that takes nothing of its answer is cut, one that takes it slowly is not", async (t) => {
  const big = Buffer.alloc(30_000_000);
  const ended = new Map<string, boolean>();
  const { connect } = await serving(
    t,
    (request, response) => {
      response.once("close", () => ended.set(request.url ?? "", response.writableFinished));
      response.end(big);
    },
    { stuckMs: STUCK_MS },
  );
  const [stuck, slow] = [connect(), connect()];
  stuck.socket.pause();
  stuck.socket.write(get("/stuck"));
  slow.socket.write(get("/slow"));
  const began = performance.now();
  let taken = 0;
  slow.socket.removeAllListeners("data");
  slow.socket.on("data", (chunk: Buffer) => {
    taken += chunk.length;
    if (Math.floor(taken / 3_000_000) === Math.floor((taken - chunk.length) / 3_000_000)) return;
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), 200);
  });
  await until("the slow one has all", () => Promise.resolve(taken > big.length));
  t.true(performance.now() - began > STUCK_MS, "it took longer than a client may take nothing");
  await until("the other is cut", () => Promise.resolve(ended.has("/stuck")));
  t.deepEqual(Object.fromEntries(ended), { "/slow": true, "/stuck": false });
});

test("a handler may take longer than a client for its answer, also on a connection that is kept", async (t) => {
  const { connect } = await serving(
    t,
    (request, response) => {
      if (request.url === "/fast") response.end("fast");
      else void delay(600).then(() => response.end("slow"));
    },
    { stuckMs: 100 },
  );
  const client = connect();
  client.socket.write(get("/fast") + get("/slow"));
  await until("both are answered", () => Promise.resolve(client.text().endsWith("slow")));
  client.socket.write(get("/slow"));
  await until("so is a third", () => Promise.resolve(client.text().split("slow").length === 3));
  t.deepEqual(statusesIn(client.text()), [200, 200, 200]);
});

test("a stream is not cut for a client that takes nothing: it has a rule of its own", async (t) => {
  let isClosed = false;
  const { connect } = await serving(
    t,
    (_request, response) => {
      response.once("close", () => (isClosed = true));
      response.writeHead(200).write(Buffer.alloc(8_000_000));
    },
    { stuckMs: 50 },
  );
  const client = connect();
  client.socket.pause();
  client.socket.write(get("/"));
  await delay(400);
  t.false(isClosed);
});

for (const [what, bytes] of [
  ["a target that is none", "GET http://[/ HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["no host", "GET / HTTP/1.1\r\n\r\n"],
  ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
  [
    "two callers",
    "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer b\r\nAuthorization: Bearer c\r\n\r\n",
  ],
] as const) {
  test(`${what}: it is answered behind the requests before it`, async (t) => {
    const { handler, begun, answerNext } = answering();
    const { connect } = await serving(t, handler);
    const client = connect();
    client.socket.write(post("/order") + get("/book") + bytes);
    await until("the first has begun", () => Promise.resolve(begun.length === 1));
    answerNext();
    await until("the second has begun", () => Promise.resolve(begun.length === 2));
    answerNext();
    await client.closed;
    t.deepEqual(statusesIn(client.text()), [200, 200, 400]);
    t.deepEqual(begun, ["POST /order", "GET /book"]);
  });
}

for (const [what, bytes] of [
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["garbage", "\x01\x02\r\n\r\n"],
] as const) {
  test(`${what}: the requests before it keep their answers, and the connection ends`, async (t) => {
    const { handler, begun, answerNext } = answering();
    const { connect } = await serving(t, handler);
    const client = connect();
    client.socket.write(post("/order") + get("/book"));
    await until("the first has begun", () => Promise.resolve(begun.length === 1));
    client.socket.write(bytes);
    answerNext();
    await until("the second has begun", () => Promise.resolve(begun.length === 2));
    answerNext();
    await client.closed;
    const statuses = statusesIn(client.text());
    t.deepEqual(statuses.slice(0, 2), [200, 200]);
    t.true(statuses.length <= 3);
    t.deepEqual(client.text().match(/\/(order|book)(?=HTTP|$)/g), ["/order", "/book"]);
  });

  test(`${what} together with a request before it`, async (t) => {
    const { handler, begun, answerNext } = answering();
    const { connect } = await serving(t, handler);
    const client = connect();
    client.socket.write(post("/order") + bytes);
    await until("it has begun", () => Promise.resolve(begun.length === 1));
    answerNext();
    await client.closed;
    t.deepEqual(statusesIn(client.text()), [200]);
    t.true(client.text().endsWith("/order"));
  });
}

test("a body that is malformed is answered behind the requests before it", async (t) => {
  const { handler, begun, answerNext } = answering();
  const { connect } = await serving(t, handler);
  const client = connect();
  const chunked = "POST /bad HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n";
  client.socket.write(post("/order") + chunked);
  await until("the first has begun", () => Promise.resolve(begun.length === 1));
  answerNext();
  await client.closed;
  t.deepEqual(statusesIn(client.text()), [200, 400]);
  t.deepEqual(begun, ["POST /order"]);
});

for (const [status, what, bytes] of [
  [417, "an expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n"],
  [400, "no host", "GET / HTTP/1.1\r\n\r\n"],
  [400, "CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  [400, "a target that is none", "GET http://[/ HTTP/1.1\r\nHost: a\r\n\r\n"],
] as const) {
  test(`${status}: ${what}, in the form of every error`, async (t) => {
    const { connect } = await serving(t, (_request, response) => response.end("here"));
    const client = connect();
    client.socket.write(bytes);
    await client.closed;
    const [head = "", body = ""] = client.text().split("\r\n\r\n");
    t.deepEqual(statusesIn(head), [status]);
    t.regex(head, /\r\nX-Request-Id: [0-9a-f-]{36}(\r\n|$)/);
    t.regex(head, /\r\nX-Error-Code: INVALID_REQUEST(\r\n|$)/);
    t.regex(head, /\r\nContent-Type: application\/json; charset=utf-8(\r\n|$)/);
    t.deepEqual(Object.keys(JSON.parse(body)), ["error"]);
  });
}

test("HTTP/1.0 needs no host", async (t) => {
  const { connect } = await serving(t, (_request, response) => response.end("here"));
  const client = connect();
  client.socket.write("GET / HTTP/1.0\r\n\r\n");
  await client.closed;
  t.true(client.text().endsWith("here"));
});

test("closing answers all requests that have come, and only the last answer says close", async (t) => {
  const { handler, begun, answerNext } = answering();
  const { connect, listener } = await serving(t, handler);
  const client = connect();
  client.socket.write(numbered(3).map(get).join(""));
  await until("the first has begun", () => Promise.resolve(begun.length === 1));
  const closing = listener.close();
  for (let index = 0; index < 3; index++) {
    await until("one has begun", () => Promise.resolve(begun.length > index));
    answerNext();
  }
  await closing;
  await client.closed;
  t.deepEqual(client.text().match(/\/\d(?=HTTP|$)/g), ["/0", "/1", "/2"]);
  t.is(client.text().match(/^Connection: close/gm)?.length, 1);
});

test("a connection that is not admitted is cut", async (t) => {
  let isFull = true;
  const { connect } = await serving(t, (_request, response) => response.end("here"), {
    admit: () => !isFull,
  });
  const refused = connect();
  refused.socket.write(get("/"));
  await refused.closed;
  t.is(refused.text(), "");
  isFull = false;
  const admitted = connect();
  admitted.socket.write(get("/"));
  await until("it is answered", () => Promise.resolve(admitted.text().endsWith("here")));
});
