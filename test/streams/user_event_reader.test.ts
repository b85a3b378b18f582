import { setImmediate as turn } from "node:timers/promises";
import test from "ava";
import { pino } from "pino";
import type { StreamRow } from "../../src/database/calls.ts";
import type { EventStream } from "../../src/streams/event_stream.ts";
import { createUserEventReader } from "../../src/streams/user_event_reader.ts";
import type { FollowedStream, ReadStream } from "../../src/streams/user_event_reader.ts";

/** Whose turn it is, on a fake database that answers when the test says so. */

const PAGE = 200;

function makeReader() {
  const calls: { streams: readonly ReadStream[]; answer: (rows: StreamRow[]) => void }[] = [];
  const reader = createUserEventReader({
    logger: pino({ level: "silent" }),
    readEvents: async (streams) => await new Promise((answer) => calls.push({ streams, answer })),
  });
  const sent: string[] = [];
  const open = (userId: string, isCatchingUp: boolean): FollowedStream => ({
    stream: {
      send: () => sent.push(userId),
      isBehind: () => false,
      whenTaken: () => undefined,
      end: () => undefined,
    } satisfies EventStream,
    ...{ userId, position: 0, include: new Set<never>() },
    ...{ isBusy: false, isStale: false, isCatchingUp, isClosed: false },
  });
  /** The users of the call that waits. */
  const asked = async () => {
    await turn();
    return calls.at(-1)!.streams.map(({ userId }) => userId);
  };
  /** Answers it: a full page for the users that are named, and what is left for the others. */
  const answer = async (...full: string[]) => {
    const { streams, answer: resolve } = calls.at(-1)!;
    resolve(
      streams.flatMap(({ userId, position }, index): StreamRow[] => {
        const stream = index + 1;
        if (!full.includes(userId)) return [{ stream, position: position + 1, event: null }];
        return Array.from({ length: PAGE }, (_, place) => ({
          ...{ stream, position: position + place + 1, event: "{}" },
        }));
      }),
    );
    await turn();
  };
  return { calls, reader, open, asked, answer, sent };
}

for (const isCatchingUp of [true, false]) {
  const lane = isCatchingUp ? "catch up" : "have news";

  test(`of a user's streams that ${lane}, a call reads one, and the next call also other users'`, async (t) => {
    const { reader, open, asked, answer } = makeReader();
    for (let place = 0; place < 20; place++) reader.markStale(open("xavier", isCatchingUp));
    t.deepEqual(await asked(), ["xavier"]);
    reader.markStale(open("ann", isCatchingUp));
    await answer();
    t.deepEqual(await asked(), ["xavier", "ann"]);
  });

  test(`streams that ${lane} are read once each`, async (t) => {
    const { calls, reader, open, asked, answer } = makeReader();
    for (const user of ["ann", "bob", "bob", "cat", "bob"]) {
      reader.markStale(open(user, isCatchingUp));
    }
    t.deepEqual(await asked(), ["ann", "bob", "cat"]);
    await answer();
    t.deepEqual(await asked(), ["bob"]);
    await answer();
    t.deepEqual(await asked(), ["bob"]);
    await answer();
    t.is(calls.length, 3);
  });
}

test("users with more to read than a page take turns, four at once", async (t) => {
  const { reader, open, asked, answer } = makeReader();
  const many = ["a", "b", "c", "d", "e", "f"];
  for (const user of many) reader.markStale(open(user, true));
  t.deepEqual(await asked(), ["a", "b", "c", "d"]);
  await answer(...many);
  t.deepEqual(await asked(), ["e", "f", "a", "b"]);
  await answer(...many);
  t.deepEqual(await asked(), ["c", "d", "e", "f"]);
});

test("twenty streams that catch up delay another user's event by one read each", async (t) => {
  const { calls, reader, open, asked, answer, sent } = makeReader();
  for (let place = 0; place < 20; place++) reader.markStale(open("xavier", true));
  for (let page = 0; page < 50; page++) {
    t.deepEqual(await asked(), ["xavier"]);
    await answer("xavier");
  }
  reader.markStale(open("ann", true));
  const before = calls.length;
  sent.length = 0;
  await answer("xavier");
  t.deepEqual(await asked(), ["xavier", "ann"]);
  await answer("xavier", "ann");
  t.is(calls.length - before, 2);
  t.is(sent.filter((userId) => userId === "ann").length, PAGE);
});
