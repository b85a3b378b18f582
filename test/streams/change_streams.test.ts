import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import test from "ava";
import { pino } from "pino";
import type { FollowedMarket } from "../../src/database/calls.ts";
import { createChangeStreams } from "../../src/streams/change_streams.ts";
import type { EventStreams, OpenOptions } from "../../src/streams/event_stream.ts";
import { createGzipStream, shareFrame } from "../../src/streams/shared_frame.ts";
import type { SharedFrame } from "../../src/streams/shared_frame.ts";

/** How reads are shared, and what a client that is slow gets, on a market that is a version. */

interface FakeClient {
  frames: any[];
  isBehind: boolean;
  /** Takes all that waits. */
  take: () => void;
  close: () => void;
  isEnded: boolean;
}

function makeChangeStreams() {
  const clients: FakeClient[] = [];
  const market = { version: 0, reads: 0, snapshots: 0, tooManyTrades: false };
  const shared = new Set<SharedFrame>();
  const eventStreams = {
    open: (_response: ServerResponse, { onClose }: OpenOptions) => {
      let onTaken: (() => void)[] = [];
      const client: FakeClient = {
        ...{ frames: [], isBehind: false, isEnded: false },
        take: () => {
          client.isBehind = false;
          const callBacks = onTaken;
          onTaken = [];
          for (const callBack of callBacks) callBack();
        },
        close: onClose,
      };
      clients.push(client);
      return {
        send: (frame: SharedFrame) => {
          shared.add(frame);
          client.frames.push(JSON.parse(String(frame.plain).slice(6)));
        },
        isBehind: () => client.isBehind,
        whenTaken: (callBack: () => void) => onTaken.push(callBack),
        end: () => (client.isEnded = true),
      };
    },
  } as unknown as EventStreams;
  const streams = createChangeStreams({
    eventStreams,
    logger: pino({ level: "silent" }),
    readMarket: async ({ withSnapshot }): Promise<FollowedMarket> => {
      market.reads++;
      if (withSnapshot) market.snapshots++;
      const { version } = market;
      await delay(1);
      return {
        ...{ version, status: "open", lastTradeId: 0 },
        levels: `[["yes",50,${version + 1}]]`,
        trades: market.tooManyTrades && !withSnapshot ? null : "[]",
        snapshot: withSnapshot ? `{"at":${version}}` : null,
      };
    },
  });
  const open = async () => {
    const response = {} as unknown as ServerResponse;
    await streams.open(["m"], { response, isCompressed: false });
    await delay(10);
    return clients.at(-1)!;
  };
  const change = async () => {
    market.version++;
    streams.changed("m", market.version);
    await delay(100);
  };
  return { streams, market, open, change, shared };
}

test("one read and one frame for all clients, however many", async (t) => {
  const { market, open, change, shared } = makeChangeStreams();
  const clients = [];
  for (let count = 0; count < 20; count++) clients.push(await open());
  t.is(market.reads, 1, "also the snapshot is shared while nothing changes");
  shared.clear();
  await change();
  t.is(market.reads, 2);
  t.is(shared.size, 1);
  for (const { frames } of clients) {
    t.like(frames.at(-1), { version: 1, since: 0, levels: [["yes", 50, 2]] });
    t.is(frames.length, 2);
  }
});

test("a client that is behind gets nothing, and then one snapshot", async (t) => {
  const { open, change } = makeChangeStreams();
  const [slow, quick] = [await open(), await open()];
  slow.isBehind = true;
  for (let count = 0; count < 5; count++) await change();
  t.is(slow.frames.length, 1);
  t.is(quick.frames.length, 6);
  slow.take();
  await delay(50);
  t.deepEqual(
    slow.frames.slice(1).map(({ version, snapshot }) => [version, snapshot.at]),
    [[5, 5]],
  );
  await change();
  t.like(slow.frames.at(-1), { version: 6, since: 5 });
  t.like(quick.frames.at(-1), { version: 6, since: 5 });
});

test("changes that cannot be told are a snapshot for all", async (t) => {
  const { open, change, market } = makeChangeStreams();
  const clients = [await open(), await open()];
  market.tooManyTrades = true;
  await change();
  for (const { frames } of clients) t.like(frames.at(-1), { version: 1, snapshot: { at: 1 } });
  t.is(market.snapshots, 2);
});

test("a version that goes back ends the streams", async (t) => {
  const { open, change, market, streams } = makeChangeStreams();
  const client = await open();
  await change();
  t.false(client.isEnded);
  market.version = 0;
  streams.allChanged();
  await delay(50);
  t.true(client.isEnded);
});

test("a market without clients is not read", async (t) => {
  const { open, change, market, streams } = makeChangeStreams();
  const client = await open();
  t.is(streams.count(), 1);
  client.close();
  t.is(streams.count(), 0);
  const { reads } = market;
  await change();
  t.is(market.reads, reads);
});

test("pieces that were compressed once are whole gzip streams of several clients", (t) => {
  const frames = ["first", "second", "x".repeat(100_000), "é"].map((text) =>
    shareFrame(Buffer.from(text)),
  );
  for (const chosen of [frames, frames.slice(1), [], [...frames, ...frames]]) {
    const gzip = createGzipStream();
    const pieces = [gzip.head, ...chosen.map((frame) => gzip.add(frame)), gzip.end()];
    t.deepEqual(gunzipSync(Buffer.concat(pieces)), Buffer.concat(chosen.map(({ plain }) => plain)));
  }
});
