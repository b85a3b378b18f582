import type { ServerResponse } from "node:http";
import test from "ava";
import type { ExecutionContext } from "ava";
import { pino } from "pino";
import {
  createEventStreams,
  formatFrame,
  StreamRejection,
} from "../../src/streams/event_stream.ts";
import type { EventStream, EventStreamsOptions } from "../../src/streams/event_stream.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import { serveLocally } from "../helpers/http/local_server.ts";

/** What holds for every event stream. */

type Options = Omit<EventStreamsOptions, "logger">;

/** A server whose every answer is a stream; `client` opens one and gives both of its ends. */
async function serveStreams(t: ExecutionContext, options: Options = {}) {
  const eventStreams = createEventStreams({ ...options, logger: pino({ level: "silent" }) });
  const opened: { stream: EventStream; response: ServerResponse; closed: Promise<void> }[] = [];
  const refused: string[] = [];
  const url = await serveLocally(t, (_request, response) => {
    let close = () => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    try {
      const stream = eventStreams.open(response, { onClose: close });
      opened.push({ stream: stream!, response, closed });
      stream!.send(formatFrame('"hello"'));
    } catch (error) {
      refused.push(error instanceof StreamRejection ? error.limitOf : String(error));
      response.statusCode = 503;
      response.end();
    }
  });
  const client = async () => {
    const source = await openEvents(url);
    return { source, ...opened.at(-1)! };
  };
  return { eventStreams, client, refused };
}

test("a frame is an id and one line of data", (t) => {
  t.is(String(formatFrame('{"a":1}', 7)), 'id: 7\ndata: {"a":1}\n\n');
  t.is(String(formatFrame('{"a":1}')), 'data: {"a":1}\n\n');
});

test("every 25 seconds comes a ping, until the client leaves", async (t) => {
  const timers = new Map<() => void, number>();
  const { eventStreams, client } = await serveStreams(t, {
    repeat: (work, everyMs) => {
      timers.set(work, everyMs);
      return () => timers.delete(work);
    },
  });
  const { source, stream, closed } = await client();
  t.deepEqual([...timers.values()], [25_000]);
  const [tick] = [...timers.keys()];
  tick!();
  tick!();
  stream.send(formatFrame('"after"'));
  await source.until(({ data }) => data === "after");
  t.deepEqual(source.comments, ["ping", "ping"]);
  t.is(eventStreams.count(), 1);
  source.close();
  await closed;
  t.is(eventStreams.count(), 0);
  t.is(timers.size, 0);
});

test("a client that does not take its frames is dropped, others get theirs", async (t) => {
  const { eventStreams, client } = await serveStreams(t);
  const slow = await client();
  const quick = await client();
  await slow.source.next();
  await quick.source.next();
  slow.source.pause();
  const frame = formatFrame(JSON.stringify("x".repeat(100_000)));
  let sent = 0;
  // As much as the system's buffers and our own hold, and a client that reads has no trouble with.
  while (!slow.response.destroyed) {
    slow.stream.send(frame);
    quick.stream.send(frame);
    t.is((await quick.source.next()).data.length, 100_000);
    sent++;
    if (slow.response.writableLength > 0) {
      t.true(slow.response.writableLength <= 256 * 1024 + frame.length);
    }
  }
  await slow.closed;
  t.true(sent > 3);
  t.is(eventStreams.droppedCount(), 1);
  t.is(eventStreams.count(), 1);
  quick.stream.send(formatFrame('"still here"'));
  t.is((await quick.source.next()).data, "still here");
});

test("503: no more streams than the cap; a place that becomes free is taken", async (t) => {
  const { client, refused } = await serveStreams(t, { streamCap: 1 });
  const first = await client();
  const { source } = await client();
  t.is(source.status, 503);
  t.deepEqual(refused, ["process"]);
  first.source.close();
  await first.closed;
  t.is((await client()).source.status, 200);
});

test("closing ends all streams in order and opens no more", async (t) => {
  const { eventStreams, client, refused } = await serveStreams(t);
  const { source } = await client();
  eventStreams.close();
  await source.ended;
  t.false(source.failed());
  await client();
  t.deepEqual(refused, ["process"]);
});
