import type { ServerResponse } from "node:http";
import test from "ava";
import { pino } from "pino";
import type { Caller } from "../../src/database/calls.ts";
import type { EventStreams } from "../../src/streams/event_stream.ts";
import { createUserStreams } from "../../src/streams/user_streams.ts";
import { until } from "../helpers/until.ts";

/** When user streams end with their credential. test/http/user_stream.test.ts has the rest. */

/** The streams of a process, whose database says in how many milliseconds each credential ends. */
function streamsWhere(ends: Map<string, number | null>) {
  let closers: (() => void)[] = [];
  const ended: string[] = [];
  const checks = new Set<() => void>();
  const eventStreams = {
    open: (response: ServerResponse, { onClose }: { onClose: () => void }) => {
      closers.push(onClose);
      return {
        send: () => undefined,
        isBehind: () => false,
        whenTaken: () => undefined,
        end: () => ended.push((response as unknown as { name: string }).name),
      };
    },
  } as unknown as EventStreams;
  const streams = createUserStreams({
    eventStreams,
    logger: pino({ level: "silent" }),
    repeat: (work) => {
      checks.add(work);
      return () => checks.delete(work);
    },
    listCredentialEnds: (ids) =>
      Promise.resolve(ids.map((id) => ({ credentialId: id, endsInMs: ends.get(id) ?? null }))),
    findPosition: () => Promise.resolve(0),
    // Nothing is left to read.
    readEvents: (followed) =>
      Promise.resolve(
        followed.map((_, index) => ({ stream: index + 1, position: 0, event: null })),
      ),
  });
  return {
    ended,
    open: (name: string, caller: Caller) => {
      const response = { name } as unknown as ServerResponse;
      streams.open(caller, response, { position: 0, isReturning: false, include: [] });
    },
    closeAll: () => {
      for (const close of closers) close();
      closers = [];
    },
    check: () => {
      for (const work of checks) work();
    },
    close: streams.close,
  };
}

const byKey = (apiKeyId: string): Caller => ({ userId: "user", apiKeyId, scopes: ["read"] });
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test("a stream ends at once if its key has ended, and others go on", async (t) => {
  const streams = streamsWhere(new Map([["ended", 0]]));
  streams.open("one", byKey("ended"));
  streams.open("other", byKey("valid"));
  await until("it ends", () => Promise.resolve(streams.ended.length > 0));
  t.deepEqual(streams.ended, ["one"]);
});

test("a stream ends when its key or session expires", async (t) => {
  const streams = streamsWhere(
    new Map([
      ["key", 30],
      ["session", 40],
      ["later", 3_600_000],
    ]),
  );
  streams.open("of a key", byKey("key"));
  streams.open("of a session", { userId: "user", sessionId: "session" });
  streams.open("of another key", byKey("later"));
  await turn();
  t.deepEqual(streams.ended, []);
  await until("two end", () => Promise.resolve(streams.ended.length === 2));
  t.deepEqual(streams.ended.toSorted(), ["of a key", "of a session"]);
});

test("the end that a rotation sets is found by the next check", async (t) => {
  const ends = new Map<string, number | null>();
  const streams = streamsWhere(ends);
  streams.open("one", byKey("rotated"));
  await turn();
  ends.set("rotated", 20);
  streams.check();
  await until("it ends", () => Promise.resolve(streams.ended.length > 0));
  t.deepEqual(streams.ended, ["one"]);
});

test("a later check replaces the end that an earlier one found", async (t) => {
  const ends = new Map([["key", 30]]);
  const streams = streamsWhere(ends);
  streams.open("one", byKey("key"));
  await turn();
  ends.set("key", 60_000);
  streams.check();
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.deepEqual(streams.ended, []);
  streams.closeAll();
});

test("after closing, credentials are not checked any more", async (t) => {
  const ends = new Map<string, number | null>();
  const streams = streamsWhere(ends);
  streams.open("one", byKey("key"));
  await turn();
  ends.set("key", 0);
  streams.close();
  streams.check();
  await turn();
  t.deepEqual(streams.ended, []);
  streams.closeAll();
});

test("a stream that is closed has no timer any more", async (t) => {
  const streams = streamsWhere(new Map([["key", 20]]));
  streams.open("one", byKey("key"));
  await turn();
  streams.closeAll();
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.deepEqual(streams.ended, []);
});
