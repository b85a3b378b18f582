import test from "ava";
import { ApiError, createClient } from "../../src/client/client.ts";
import type { UserStream, UserStreamOptions } from "../../src/client/client.ts";
import { fakeStreams, frame } from "./fake_streams.ts";
import type { FakeConnection, FakeStreams } from "./fake_streams.ts";

/** The user stream goes on behind the last event, whatever happens to its connections. */

function open(
  name: string,
  connections: FakeConnection[],
  options?: UserStreamOptions,
): FakeStreams & { stream: UserStream } {
  const server = fakeStreams(name, connections);
  const { fetch, timing } = server;
  const client = createClient({ url: "http://exchange", key: "jk_1", fetch, timing, idleMs: 30 });
  return { ...server, stream: client.userStream(options) };
}

const connected = { type: "connected" };
/** An event of which nothing but its place matters here. */
const event = (place: number) => ({
  type: "maker_fill",
  marketId: "m",
  orderIds: [],
  fillCount: place,
});
const placesOf = (events: any[]) => events.map(({ fillCount }) => fillCount ?? "connected");

/** So many events. */
async function take(stream: UserStream, count: number): Promise<any[]> {
  const taken: any[] = [];
  for await (const next of stream) if (taken.push(next) === count) break;
  return taken;
}

async function failureOf(stream: UserStream): Promise<ApiError> {
  const error = await take(stream, Infinity).catch((thrown: unknown) => thrown);
  if (error instanceof ApiError) return error;
  throw error as Error;
}

test("each event comes once, over connections that end, break and fall silent", async (t) => {
  const { stream, opened, waits } = open("breaks", [
    { text: frame(connected, 5) + frame(event(6), 6) + "id: 7\n\n", end: "end" },
    // The frame after event 8 is cut in its middle, behind its id.
    {
      text: frame(connected, 7) + frame(event(8), 8) + frame(event(9), 9).slice(0, 30),
      end: "break",
    },
    { status: 503, headers: { "Retry-After": "2" }, text: "{}" },
    { text: frame(connected, 8) + frame(event(9), 9) + ": ping\n\n", end: "hang" },
    { text: frame(connected, 9) + frame(event(10), 10), end: "hang" },
  ]);
  t.deepEqual(placesOf(await take(stream, 5)), ["connected", 6, 8, 9, 10]);
  t.is(stream.lastEventId, "10");
  t.deepEqual(
    opened.map(({ headers }) => headers.get("Last-Event-ID")),
    [null, "7", "8", "8", "9"],
  );
  t.true(opened.every(({ headers }) => headers.get("Authorization") === "Bearer jk_1"));
  t.true(waits[2]! >= 2000, "it waits as long as the server asks for");
});

test("it can go on behind an id of an earlier stream, and says where it is", async (t) => {
  const options = { include: ["fills", "markets"], lastEventId: "41" } as const;
  const { stream, opened } = open(
    "resumed",
    [{ text: frame(connected, 41) + frame(event(42), 42) + frame(event(43), 43), end: "hang" }],
    options,
  );
  t.is(stream.lastEventId, "41");
  t.deepEqual(placesOf(await take(stream, 2)), ["connected", 42]);
  t.is(stream.lastEventId, "42", "event 43 has not been handed out");
  t.is(opened[0]!.url, "http://exchange/api/v1/user/stream?include=fills,markets");
  t.is(opened[0]!.headers.get("Last-Event-ID"), "41");
  // Iterated again, it goes on there, and does not begin again.
  t.deepEqual(placesOf(await take(stream, 1)), [42]);
  t.is(opened[1]!.headers.get("Last-Event-ID"), "42");
});

test("EVENTS_GONE is thrown; iterated again, it begins anew", async (t) => {
  const gone = { status: 409, text: '{"error":"Gone","code":"EVENTS_GONE"}' };
  const { stream, opened } = open(
    "gone",
    [gone, { text: frame(connected, 90) + frame(event(91), 91), end: "hang" }],
    { lastEventId: "1" },
  );
  t.like(await failureOf(stream), { status: 409, code: "EVENTS_GONE" });
  t.is(stream.lastEventId, undefined);
  t.deepEqual(placesOf(await take(stream, 2)), ["connected", 91]);
  t.is(opened[1]!.headers.get("Last-Event-ID"), null);
});

test("what a new connection cannot repair is thrown: 400, 401, 403, another address", async (t) => {
  for (const status of [400, 401, 403, 404]) {
    const { stream, opened } = open("fails", [{ status, text: '{"error":"No"}' }]);
    t.like(await failureOf(stream), { status, message: "No" });
    t.is(opened.length, 1);
  }
  const page = { headers: { "Content-Type": "text/html" }, text: "<html>" };
  t.like(await failureOf(open("page", [page]).stream), { code: "BAD_ANSWER" });
  const odd = { text: "data: hello\n\n" };
  t.like(await failureOf(open("odd", [odd]).stream), { code: "BAD_ANSWER" });
});

test("a break of the connection is reported, with its reason", async (t) => {
  const states: [string, string | undefined][] = [];
  const { stream } = open(
    "states",
    [
      { text: frame(connected, 1), end: "break" },
      { status: 429, headers: { "Retry-After": "1" }, text: '{"error":"Too many"}' },
      { text: frame(event(2), 2), end: "hang" },
    ],
    { onConnection: (state, error) => states.push([state, error?.message]) },
  );
  t.is((await take(stream, 2)).length, 2);
  t.deepEqual(states, [
    ["open", undefined],
    ["lost", "The stream broke: terminated"],
    ["lost", "Too many"],
    ["open", undefined],
  ]);
});

test("it waits longer after each failure, and anew after a connection that lasted", async (t) => {
  const short: FakeConnection = { status: 503, text: "{}" };
  const long: FakeConnection = { text: frame(connected, 1), end: "end" };
  const server = fakeStreams("waits", [
    long,
    short,
    short,
    short,
    long,
    { status: 401, text: "{}" },
  ]);
  let now = 0;
  const timing = { ...server.timing, now: () => (now += 6000) };
  const client = createClient({ url: "http://exchange", key: "jk_1", fetch: server.fetch, timing });
  t.like(await failureOf(client.userStream({ lastEventId: "1" })), { status: 401 });
  const expected = [100, 200, 400, 800, 1600];
  for (const [index, waited] of server.waits.entries()) {
    const longest = expected[index]!;
    t.true(waited >= longest / 2 && waited <= longest, `${index}: ${waited} ms`);
  }
  t.is(server.waits.length, expected.length);

  const steady = fakeStreams("steady", [short, short, long, { status: 401, text: "{}" }]);
  let later = 0;
  const slowly = { ...steady.timing, now: () => (later += 10_001) };
  const other = createClient({
    ...{ url: "http://exchange", key: "jk_1", fetch: steady.fetch, timing: slowly },
  });
  await failureOf(other.userStream());
  t.true(steady.waits.at(-1)! <= 100);
});

test("closed or aborted, it ends; it is iterated once at a time", async (t) => {
  const silent: FakeConnection = { text: frame(connected, 1), end: "hang" };
  const controller = new AbortController();
  const server = open("closed", [silent], { signal: controller.signal });
  const events: any[] = [];
  for await (const next of server.stream) {
    events.push(next);
    await t.throwsAsync(take(server.stream, 1), { instanceOf: TypeError });
    setTimeout(() => {
      controller.abort();
    });
  }
  t.deepEqual(placesOf(events), ["connected"]);
  t.deepEqual(await take(server.stream, 1), [], "it stays closed");
  const other = open("other", [silent]);
  setTimeout(() => {
    other.stream.close();
  }, 5);
  t.deepEqual(placesOf(await take(other.stream, Infinity)), ["connected"]);
  const never = open("never", [silent], { signal: AbortSignal.abort() });
  t.deepEqual(await take(never.stream, 1), []);
  t.is(never.opened.length, 0);
});
