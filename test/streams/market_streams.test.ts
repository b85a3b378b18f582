import type { ServerResponse } from "node:http";
import test from "ava";
import { pino } from "pino";
import type { MarketView } from "../../src/database/calls.ts";
import type { EventStreams } from "../../src/streams/event_stream.ts";
import { createMarketStreams } from "../../src/streams/market_streams.ts";

/** How reads of a market are shared and merged, on a market that is two figures. */

interface Question {
  answer: (view: MarketView | undefined) => void;
  fail: () => void;
}

function makeMarketStreams() {
  const questions: Question[] = [];
  let asked = () => {};
  const streams = createMarketStreams({
    eventStreams: { open: (response: any) => response } as unknown as EventStreams,
    logger: pino({ level: "silent" }),
    readSnapshot: () =>
      new Promise((resolve, reject) => {
        questions.push({
          answer: resolve,
          fail: () => {
            reject(new Error("out of order"));
          },
        });
        asked();
      }),
  });
  return {
    ...streams,
    questions,
    /** Settles with the question of this number, counted from 0, once it is asked. */
    question: async (number: number) => {
      while (questions.length <= number) await new Promise<void>((resolve) => (asked = resolve));
      return questions[number]!;
    },
  };
}

/** What stands for an open stream: the versions that it was sent. */
function makeClient() {
  const sent: (number | "end")[] = [];
  let arrived = () => {};
  const response = {
    send: (frame: Buffer) => {
      sent.push(Number(/^id: (\d+)/.exec(String(frame))![1]));
      arrived();
    },
    end: () => sent.push("end"),
  };
  return {
    sent,
    response: response as unknown as ServerResponse,
    sentSo: async (count: number) => {
      while (sent.length < count) await new Promise<void>((resolve) => (arrived = resolve));
    },
  };
}

const view = (version: number, body = `{"version":${version}}`) => ({ version, body });

async function watched(streams: ReturnType<typeof makeMarketStreams>) {
  const client = makeClient();
  const asked = streams.questions.length;
  const opening = streams.open("market", client.response);
  (await streams.question(asked)).answer(view(1));
  await opening;
  return client;
}

test("clients that come while a snapshot is read share the next one", async (t) => {
  const streams = makeMarketStreams();
  const clients = Array.from({ length: 10 }, makeClient);
  const openings = clients.map(({ response }) => streams.open("market", response));
  (await streams.question(0)).answer(view(1));
  (await streams.question(1)).answer(view(2));
  t.deepEqual(await Promise.all(openings), Array<boolean>(10).fill(true));
  t.is(streams.questions.length, 2);
  const [first, ...others] = clients.map(({ sent }) => sent);
  t.deepEqual(first, [1, 2]);
  for (const sent of others) t.deepEqual(sent, [2]);
  t.is(streams.count(), 10);
});

test("a change during the read of the first snapshot is not missed", async (t) => {
  const streams = makeMarketStreams();
  const client = makeClient();
  const opening = streams.open("market", client.response);
  const first = await streams.question(0);
  streams.changed("market", 2);
  first.answer(view(1));
  await opening;
  (await streams.question(1)).answer(view(2));
  await client.sentSo(2);
  t.deepEqual(client.sent, [1, 2]);
});

test("one read for all clients and all changes of a burst, the last one included", async (t) => {
  const streams = makeMarketStreams();
  const clients = [await watched(streams), await watched(streams), await watched(streams)];
  const before = streams.questions.length;
  for (let version = 2; version <= 100; version++) streams.changed("market", version);
  const question = await streams.question(before);
  for (let version = 101; version <= 200; version++) streams.changed("market", version);
  question.answer(view(100));
  (await streams.question(before + 1)).answer(view(200));
  await clients[0]!.sentSo(3);
  for (const { sent } of clients) t.deepEqual(sent, [1, 100, 200]);
  t.is(streams.questions.length, before + 2);
});

test("a known version, or a market without clients, is not read", async (t) => {
  const streams = makeMarketStreams();
  await watched(streams);
  streams.changed("market", 1);
  streams.changed("another", 5);
  t.is(streams.questions.length, 1);
});

test("the same snapshot is not sent twice, another one of the same version is", async (t) => {
  const streams = makeMarketStreams();
  const client = await watched(streams);
  streams.allChanged();
  (await streams.question(1)).answer(view(1));
  await watched(streams);
  t.deepEqual(client.sent, [1]);
  streams.allChanged();
  (await streams.question(3)).answer(view(1, "{}"));
  await client.sentSo(2);
  t.deepEqual(client.sent, [1, 1]);
});

test("a read that fails is tried again", async (t) => {
  const streams = makeMarketStreams();
  const client = await watched(streams);
  streams.changed("market", 2);
  (await streams.question(1)).fail();
  (await streams.question(2)).answer(view(2));
  await client.sentSo(2);
  t.deepEqual(client.sent, [1, 2]);
});

test("versions never go back: the streams end when the database was set back", async (t) => {
  const streams = makeMarketStreams();
  const client = await watched(streams);
  streams.allChanged();
  (await streams.question(1)).answer(view(0));
  await client.sentSo(2);
  t.deepEqual(client.sent.slice(0, 2), [1, "end"]);
});

test("an unknown market has no stream, and a failure reaches the client", async (t) => {
  const streams = makeMarketStreams();
  const unknown = streams.open("market", makeClient().response);
  (await streams.question(0)).answer(undefined);
  t.false(await unknown);
  const failing = streams.open("market", makeClient().response);
  (await streams.question(1)).fail();
  await t.throwsAsync(failing, { message: "out of order" });
  t.is(streams.count(), 0);
});
