import { EventEmitter, once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { pino } from "pino";
import pg from "pg";
import type { Client } from "pg";
import type { SentEvent } from "../../src/database/calls.ts";
import { createListener } from "../../src/streams/listener.ts";

/** The listening connection, on a fake database that the test directs. */

interface FakeClient extends EventEmitter {
  statements: string[];
  /** As a NOTIFY of any login, which may have any payload. */
  notify: (payload?: string) => void;
}

function makeListener({ refuses = 0 }: { refuses?: number } = {}) {
  const clients: FakeClient[] = [];
  const told = new EventEmitter();
  const heard: unknown[] = [];
  /** What the database has: events whose ids rise by one, the last id, and how it was asked. */
  const log = { events: [] as SentEvent[], lastId: 0, reads: [] as (number | undefined)[] };
  let refusals = refuses;
  const hear = (about: unknown) => {
    heard.push(about);
    told.emit("heard");
  };
  const listener = createListener({
    logger: pino({ level: "silent" }),
    makeClient: () => {
      const client: any = new EventEmitter();
      client.statements = [];
      client.connect = async () => {
        if (refusals-- > 0) throw new Error("not yet");
      };
      client.query = async (text: string) => client.statements.push(text);
      client.end = async () => client.emit("end");
      client.notify = (payload = "") => {
        client.emit("notification", { channel: "pgmarkets_events", payload });
      };
      clients.push(client);
      return client as Client;
    },
    // As api.follow_events() does.
    readEvents: async (_client, afterId, most) => {
      log.reads.push(afterId);
      if (afterId === log.lastId) return [];
      const behind = log.events.filter(({ id }) => afterId !== undefined && id > afterId);
      if (behind[0]?.id === (afterId ?? NaN) + 1) return behind.slice(0, most);
      return [{ id: log.lastId, position: log.lastId, kind: null, payload: null, userIds: null }];
    },
    onMarketChanged: hear,
    onUserEvent: ({ event }) => {
      hear(event);
    },
    onApiKeyRevoked: hear,
    onSessionEnded: hear,
    onNews: (kind, userIds) => {
      hear({ kind, userIds });
    },
    onMarketStatus: ({ marketId }) => {
      hear({ status: marketId });
    },
    onTick: (position) => {
      hear({ position });
    },
    onGap: () => {
      hear("gap");
    },
  });
  /** The database sends an event, with a notification by default. */
  const send = (kind: string, about: unknown, { silent = false } = {}) => {
    log.lastId += 1;
    log.events.push(eventWith(log.lastId, kind, about));
    if (!silent) clients.at(-1)!.notify(String(log.lastId));
  };
  const untilHeard = async (count: number) => {
    while (heard.length < count) await once(told, "heard");
    return heard.splice(0);
  };
  return { listener, clients, heard, log, send, untilHeard };
}

const eventWith = (id: number, kind: string, about: unknown, userIds: string[] | null = null) => ({
  ...{ id, kind, position: id * 10, payload: JSON.stringify(about), userIds },
});
const eventOf = (number: number) => ({ userId: "ann", event: { type: "test", number } });

test("it reads events in their order when it is notified, and reports a gap at the start", async (t) => {
  const { listener, clients, send, untilHeard } = makeListener();
  t.false(listener.isListening());
  await listener.start();
  t.true(listener.isListening());
  t.deepEqual(clients[0]!.statements, ["listen pgmarkets_events"]);
  send("market_changed", { marketId: "m", version: 2 });
  send("user_event", eventOf(1));
  send("api_key_revoked", { apiKeyId: "k" });
  send("session_ended", { sessionId: "s" });
  t.deepEqual(await untilHeard(5), [
    "gap",
    { marketId: "m", version: 2 },
    { type: "test", number: 1 },
    { apiKeyId: "k" },
    { sessionId: "s" },
  ]);
  await listener.close();
  t.false(listener.isListening());
});

test("it says for whose streams an event has frames, and how far a tick is", async (t) => {
  const { listener, clients, log, untilHeard } = makeListener();
  await listener.start();
  await untilHeard(1);
  log.events.push(
    eventWith(1, "market_changed", { marketId: "m", version: 1 }, ["ann"]),
    eventWith(2, "market_settled", { marketId: "m" }, ["ann", "bob"]),
    eventWith(3, "market_status", { marketId: "m" }, ["eve"]),
    eventWith(4, "tick", {}),
  );
  log.lastId = 4;
  clients[0]!.notify();
  t.deepEqual(await untilHeard(6), [
    { kind: "fills", userIds: ["ann"] },
    { marketId: "m", version: 1 },
    { kind: "settlements", userIds: ["ann", "bob"] },
    { kind: "markets", userIds: ["eve"] },
    { status: "m" },
    { position: 40 },
  ]);
  await listener.close();
});

test("a forged notification costs one read", async (t) => {
  const { listener, clients, heard, log } = makeListener();
  await listener.start();
  t.deepEqual(heard.splice(0), ["gap"]);
  const readsBefore = log.reads.length;
  clients[0]!.notify(JSON.stringify({ id: 1, about: eventOf(666), kind: "user_event" }));
  await delay(50);
  t.deepEqual(heard, []);
  t.is(log.reads.length, readsBefore + 1);
  await listener.close();
});

test("events that the process sent are taken, once, and not read", async (t) => {
  const { listener, clients, heard, log, send, untilHeard } = makeListener();
  t.is(listener.lastId(), undefined);
  listener.take([eventWith(1, "user_event", eventOf(1))]);
  t.deepEqual(heard, [], "it does not listen yet");
  await listener.start();
  t.deepEqual(heard.splice(0), ["gap"]);
  t.is(listener.lastId(), 0);
  const readsBefore = log.reads.length;

  for (const number of [1, 2]) send("user_event", eventOf(number), { silent: true });
  listener.take(log.events);
  t.deepEqual(heard.splice(0), [eventOf(1).event, eventOf(2).event]);
  t.is(listener.lastId(), 2);
  // Another read may have them too.
  listener.take(log.events);
  for (const id of [1, 2]) clients[0]!.notify(String(id));
  await delay(50);
  t.deepEqual(heard, []);
  t.is(log.reads.length, readsBefore);

  // Others sent 3; this process sent 4 and read both.
  send("user_event", eventOf(3));
  send("user_event", eventOf(4), { silent: true });
  listener.take(log.events.slice(2));
  t.deepEqual(await untilHeard(2), [eventOf(3).event, eventOf(4).event]);
  await delay(50);
  t.deepEqual(heard, []);

  // Where to go on is said by the connection's own reads.
  listener.take([{ id: 1, position: 1, kind: null, payload: null, userIds: null }]);
  t.is(listener.lastId(), 4);
  t.deepEqual(heard, []);
  await listener.close();
});

test("a flood of notifications is merged", async (t) => {
  const { listener, clients, heard, log, send, untilHeard } = makeListener();
  await listener.start();
  await untilHeard(1);
  const readsBefore = log.reads.length;
  const began = performance.now();
  for (let turn = 0; turn < 20; turn++) {
    for (let count = 0; count < 500; count++) clients[0]!.notify("x");
    await delay(2);
  }
  const reads = log.reads.length - readsBefore;
  // 10,000 rings, and 10 ms between reads that find nothing, by a timer that may be 1 ms early.
  const tookMs = performance.now() - began;
  t.true(reads <= 2 + tookMs / 9, `${reads} reads in ${tookMs} ms`);
  t.deepEqual(heard, []);
  send("user_event", eventOf(1));
  t.deepEqual(await untilHeard(1), [{ type: "test", number: 1 }]);
  await listener.close();
});

test("the timer reads events after a lost notification", async (t) => {
  const { listener, send, untilHeard } = makeListener();
  await listener.start();
  send("user_event", eventOf(1), { silent: true });
  // The listener's own timer keeps no process alive.
  const alive = setInterval(() => {}, 1000);
  t.deepEqual(await untilHeard(2), ["gap", { type: "test", number: 1 }]);
  clearInterval(alive);
  await listener.close();
});

test("more events than are read at once are all delivered, each once", async (t) => {
  const { listener, clients, send, untilHeard } = makeListener();
  await listener.start();
  for (let number = 1; number <= 2500; number++)
    send("user_event", eventOf(number), { silent: true });
  clients[0]!.notify();
  const [gap, ...events] = await untilHeard(2501);
  t.is(gap, "gap");
  t.deepEqual(
    events.map((event: any) => event.number),
    Array.from({ length: 2500 }, (_, index) => index + 1),
  );
  await listener.close();
});

test("ids that went back, or ahead by more than one, are a gap", async (t) => {
  const { listener, clients, log, send, untilHeard } = makeListener();
  log.lastId = 100;
  await listener.start();
  t.deepEqual(await untilHeard(1), ["gap"]);
  // Set back to a backup.
  log.lastId = 7;
  clients[0]!.notify();
  t.deepEqual(await untilHeard(1), ["gap"]);
  send("user_event", eventOf(8));
  t.deepEqual(await untilHeard(1), [{ type: "test", number: 8 }]);
  // After a crash.
  log.lastId = 1_000_000;
  send("user_event", eventOf(9));
  t.deepEqual(await untilHeard(1), ["gap"]);
  send("user_event", eventOf(10));
  t.deepEqual(await untilHeard(1), [{ type: "test", number: 10 }]);
  await listener.close();
});

test("a hole among the events that were read is a gap", async (t) => {
  const { listener, clients, log, untilHeard } = makeListener();
  await listener.start();
  for (const id of [1, 3]) {
    log.events.push(eventWith(id, "user_event", eventOf(id)));
  }
  log.lastId = 3;
  clients[0]!.notify();
  t.deepEqual(await untilHeard(4), [
    "gap",
    { type: "test", number: 1 },
    "gap",
    { type: "test", number: 3 },
  ]);
  await listener.close();
});

test("a lost connection is replaced, and the old one is ignored", async (t) => {
  const { listener, clients, log, send, untilHeard } = makeListener();
  await listener.start();
  await untilHeard(1);
  clients[0]!.emit("error", new Error("cut"));
  t.deepEqual(await untilHeard(1), ["gap"]);
  const readsBefore = log.reads.length;
  clients[0]!.notify();
  await delay(20);
  t.is(log.reads.length, readsBefore);
  send("user_event", eventOf(2));
  t.deepEqual(await untilHeard(1), [{ type: "test", number: 2 }]);
  await listener.close();
  t.is(clients.length, 2);
});

test("a database out of reach does not keep the process from starting", async (t) => {
  const { listener, clients, untilHeard } = makeListener({ refuses: 2 });
  await listener.start();
  t.false(listener.isListening());
  t.deepEqual(await untilHeard(1), ["gap"]);
  await delay(0);
  t.true(listener.isListening());
  t.is(clients.length, 3);
  await listener.close();
});

test("it closes while it connects", async (t) => {
  const silent = createServer();
  await once(silent.listen(0, "127.0.0.1"), "listening");
  t.teardown(() => silent.close());
  const connected = once(silent, "connection");
  const { port } = silent.address() as AddressInfo;
  const listener = createListener({
    logger: pino({ level: "silent" }),
    makeClient: () => new pg.Client({ host: "127.0.0.1", port, user: "x", database: "x" }),
    readEvents: async () => [],
    onMarketChanged: () => undefined,
    onUserEvent: () => undefined,
    onApiKeyRevoked: () => undefined,
    onSessionEnded: () => undefined,
    onNews: () => undefined,
    onMarketStatus: () => undefined,
    onTick: () => undefined,
    onGap: () => undefined,
  });
  void listener.start();
  const [socket] = (await connected) as [Socket];
  // It answers nothing, and ends when the other side does.
  socket.resume();
  await t.notThrowsAsync(listener.close());
});

test("an invalid event does not block the events after it", async (t) => {
  const { listener, send, untilHeard } = makeListener();
  await listener.start();
  for (const about of [null, {}, 7, { userId: 1 }]) {
    for (const kind of ["market_changed", "user_event", "api_key_revoked", "unknown"]) {
      send(kind, about);
    }
  }
  send("user_event", eventOf(1));
  t.deepEqual(await untilHeard(2), ["gap", { type: "test", number: 1 }]);
  await listener.close();
});
