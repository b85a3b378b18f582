import { EventEmitter, once } from "node:events";
import test from "ava";
import { pino } from "pino";
import type { Client } from "pg";
import { createListener } from "../../src/streams/listener.ts";
import type { ListenerOptions } from "../../src/streams/listener.ts";

/** The listening connection, on a database that does as it is told. */

interface FakeClient extends EventEmitter {
  statements: string[];
  notify: (channel: string, payload: unknown) => void;
}

function makeListener({
  refuses = 0,
  ...options
}: Partial<ListenerOptions> & { refuses?: number }) {
  const clients: FakeClient[] = [];
  const made = new EventEmitter();
  const heard: unknown[] = [];
  let refusals = refuses;
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
      client.notify = (channel: string, payload: unknown) =>
        client.emit("notification", {
          channel,
          payload: typeof payload === "string" ? payload : JSON.stringify(payload),
        });
      clients.push(client);
      return client as Client;
    },
    readAnnouncement: async () => undefined,
    onMarketChanged: (about) => heard.push(about),
    onUserEvent: ({ event }) => heard.push(event),
    onApiKeyRevoked: (about) => heard.push(about),
    onSessionEnded: (about) => heard.push(about),
    onGap: () => {
      heard.push("gap");
      made.emit("listening");
    },
    ...options,
  });
  const nextListening = () => once(made, "listening");
  return { listener, clients, heard, nextListening };
}

const eventOf = (number: number) => ({ userId: "ann", event: { type: "test", number } });

test("it hears its channels, and all may have changed before", async (t) => {
  const { listener, clients, heard } = makeListener({});
  t.false(listener.isListening());
  await listener.start();
  t.true(listener.isListening());
  t.deepEqual(clients[0]!.statements, [
    "listen market_changed;listen user_event;listen api_key_revoked;listen session_ended",
  ]);
  clients[0]!.notify("market_changed", { id: 1, about: { marketId: "m", version: 2 } });
  clients[0]!.notify("user_event", { id: 2, about: eventOf(1) });
  clients[0]!.notify("api_key_revoked", { id: 3, about: { apiKeyId: "k" } });
  clients[0]!.notify("session_ended", { id: 4, about: { sessionId: "s" } });
  t.deepEqual(heard, [
    "gap",
    { marketId: "m", version: 2 },
    { type: "test", number: 1 },
    { apiKeyId: "k" },
    { sessionId: "s" },
  ]);
  await listener.close();
  t.false(listener.isListening());
});

test("a connection that is lost is replaced, and the old one is not heard any more", async (t) => {
  const { listener, clients, heard, nextListening } = makeListener({});
  await listener.start();
  const again = nextListening();
  clients[0]!.emit("error", new Error("cut"));
  await again;
  clients[0]!.notify("user_event", { id: 1, about: eventOf(1) });
  clients[1]!.notify("user_event", { id: 2, about: eventOf(2) });
  t.deepEqual(heard, ["gap", "gap", { type: "test", number: 2 }]);
  await listener.close();
  t.is(clients.length, 2);
});

test("a database out of reach does not keep the process from starting", async (t) => {
  const { listener, clients, nextListening } = makeListener({ refuses: 2 });
  const listening = nextListening();
  await listener.start();
  t.false(listener.isListening());
  await listening;
  t.true(listener.isListening());
  t.is(clients.length, 3);
  await listener.close();
});

test("events behind one that has to be read wait for it", async (t) => {
  let answer = (_text: string) => {};
  const { listener, clients, heard } = makeListener({
    readAnnouncement: () => new Promise((resolve) => (answer = resolve)),
  });
  await listener.start();
  clients[0]!.notify("user_event", { id: 1 });
  clients[0]!.notify("user_event", { id: 2, about: eventOf(2) });
  clients[0]!.notify("market_changed", { id: 3, about: { marketId: "m", version: 2 } });
  await Promise.resolve();
  t.deepEqual(heard.splice(0), ["gap", { marketId: "m", version: 2 }]);
  answer(JSON.stringify(eventOf(1)));
  while (heard.length < 2) await new Promise(setImmediate);
  clients[0]!.notify("user_event", { id: 4, about: eventOf(3) });
  t.deepEqual(
    heard,
    [1, 2, 3].map((number) => ({ type: "test", number })),
  );
  await listener.close();
});

test("an event that can't be read any more is a gap: nobody knows whose it was", async (t) => {
  const { listener, clients, heard, nextListening } = makeListener({});
  await listener.start();
  const gap = nextListening();
  clients[0]!.notify("user_event", { id: 1 });
  await gap;
  t.deepEqual(heard, ["gap", "gap"]);
  await listener.close();
});

test("notifications that are not ours are passed over", async (t) => {
  const { listener, clients, heard } = makeListener({});
  await listener.start();
  for (const payload of ["", "x", "null", "{}", '{"id":1,"about":{}}', '{"id":1,"about":7}']) {
    clients[0]!.notify("market_changed", payload);
    clients[0]!.notify("api_key_revoked", payload);
    clients[0]!.notify("session_ended", payload);
  }
  clients[0]!.notify("user_event", "x");
  clients[0]!.notify("user_event", { id: 1, about: { userId: 1 } });
  t.deepEqual(heard, ["gap"]);
  await listener.close();
});
