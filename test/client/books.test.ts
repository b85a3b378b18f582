import test from "ava";
import { ApiError, createClient } from "../../src/client/client.ts";
import type { Books, BooksOptions, LocalBook } from "../../src/client/client.ts";
import { fakeStreams, frame } from "./fake_streams.ts";
import type { FakeConnection, FakeStreams } from "./fake_streams.ts";

/** Books that are kept by a stream of changes, and opened again when a change does not fit. */

function open(
  name: string,
  connections: FakeConnection[],
  { markets = ["m"], ...options }: BooksOptions & { markets?: string[] } = {},
): FakeStreams & { books: Books } {
  const server = fakeStreams(name, connections);
  const { fetch, timing } = server;
  const client = createClient({ url: "http://exchange", fetch, timing, idleMs: 60_000 });
  return { ...server, books: client.books(markets, options) };
}

const levels = (pairs: [number, number][]) =>
  pairs.map(([price, quantity]) => ({ price, quantity }));

function snapshot(
  version: number,
  yes: [number, number][],
  no: [number, number][],
  marketId = "m",
) {
  const orderBook = { yesBids: levels(yes), noBids: levels(no) };
  const recentTrades = [{ price: 55 }, { price: 54 }];
  return frame({ marketId, version, snapshot: { orderBook, recentTrades, status: "open" } });
}

function change(
  since: number,
  version: number,
  changed: unknown[],
  more: object = {},
  marketId = "m",
) {
  return frame({ marketId, version, since, levels: changed, trades: [], status: "open", ...more });
}

/** The first book that fulfils the condition. */
async function until(books: Books, holds: (book: LocalBook) => boolean): Promise<LocalBook> {
  for await (const book of books) if (holds(book)) return book;
  throw new Error("The books were closed");
}

test("a snapshot and its changes, in YES prices, the best ones first", async (t) => {
  const text =
    snapshot(
      7,
      [
        [40, 5],
        [45, 1],
      ],
      [
        [30, 2],
        [37, 3],
      ],
    ) +
    change(
      7,
      8,
      [
        ["yes", 47, 4],
        ["yes", 45, 0],
        ["no", 37, 1],
      ],
      { trades: [{ price: 62 }, { price: 63 }] },
    ) +
    // Only the status: the version stays.
    change(8, 8, [["no", 30, 0]], { status: "paused" });
  const { books, opened } = open("changes", [{ text, end: "hang" }]);
  t.is(books.book("m"), undefined);
  await books.ready();
  t.deepEqual(await until(books, ({ status }) => status === "paused"), {
    ...{ marketId: "m", version: 8, status: "paused", lastTradePrice: 63, isCurrent: true },
    bids: levels([
      [47, 4],
      [40, 5],
    ]),
    asks: levels([[63, 1]]),
  });
  t.is(opened[0]!.url, "http://exchange/api/v1/stream?markets=m");
  t.is(books.book("M"), books.book("m"), "ids are compared without regard to case");
  books.close();
});

test("a change of another version opens the stream again, which begins with a snapshot", async (t) => {
  const good = snapshot(7, [[40, 5]], []);
  const misfits = [
    change(8, 9, [["yes", 41, 1]]),
    change(6, 8, [["yes", 41, 1]]),
    change(7, 8, [["yes", 41, 1]], {}, "other"),
  ];
  for (const misfit of misfits) {
    const states: [string, string | undefined][] = [];
    const { books, opened } = open(
      "misfit",
      [
        { text: good + misfit + change(8, 9, [["yes", 42, 1]]), end: "hang" },
        { text: snapshot(12, [[50, 2]], []) + change(12, 13, [["yes", 50, 1]]), end: "hang" },
      ],
      {
        markets: ["m", "other"],
        onConnection: (state, error) => states.push([state, error?.code]),
      },
    );
    const book = await until(books, ({ version }) => version === 13);
    t.deepEqual(book.bids, levels([[50, 1]]));
    t.is(opened.length, 2);
    t.deepEqual(states, [
      ["open", undefined],
      ["lost", "OUT_OF_STEP"],
      ["open", undefined],
    ]);
    books.close();
  }
});

test("a change does not build on the snapshot of an earlier connection", async (t) => {
  const { books, opened } = open("stale", [
    { text: snapshot(7, [[40, 5]], []), end: "break" },
    { text: change(7, 8, [["yes", 41, 1]]), end: "hang" },
    { text: snapshot(9, [[43, 1]], []), end: "hang" },
  ]);
  t.deepEqual((await until(books, ({ version }) => version > 7)).bids, levels([[43, 1]]));
  t.is(opened.length, 3);
  books.close();
});

test("a snapshot may come again, in place of changes", async (t) => {
  const text =
    snapshot(7, [[40, 5]], []) + snapshot(9, [[41, 1]], []) + change(9, 10, [["yes", 42, 1]]);
  const { books, opened } = open("again", [{ text, end: "hang" }]);
  t.deepEqual(
    (await until(books, ({ version }) => version === 10)).bids,
    levels([
      [42, 1],
      [41, 1],
    ]),
  );
  t.is(opened.length, 1);
  books.close();
});

test("while the connection is lost, books are not current", async (t) => {
  const { books } = open("lost", [
    { text: snapshot(7, [[40, 5]], []), end: "break" },
    { status: 503, text: "{}" },
    { text: snapshot(7, [[40, 5]], []), end: "hang" },
  ]);
  const seen: boolean[] = [];
  for await (const { isCurrent } of books) {
    if (seen.at(-1) !== isCurrent) seen.push(isCurrent);
    if (seen.length > 1 && isCurrent) break;
  }
  t.deepEqual(seen.slice(-2), [false, true]);
  books.close();
});

test("an iterator that is slow gets the latest book of each market, once", async (t) => {
  const many = Array.from({ length: 50 }, (_, index) =>
    change(7 + index, 8 + index, [["yes", 30, index + 1]]),
  );
  const text = snapshot(7, [], []) + snapshot(3, [[20, 1]], [], "n") + many.join("");
  const changes: number[] = [];
  let markLast: () => void;
  const last = new Promise<void>((resolve) => (markLast = resolve));
  const { books } = open("slow", [{ text, end: "hang" }], {
    markets: ["m", "n"],
    onChange: ({ version }) => {
      changes.push(version);
      if (version === 57) markLast();
    },
  });
  const seen: LocalBook[] = [];
  for await (const book of books) {
    await last;
    seen.push(book);
    if (seen.at(-1)!.version === 57) break;
  }
  t.true(seen.length <= 3, `${seen.length} books`);
  t.is(changes.length, 52, "each frame is reported");
  books.close();
});

test("what a new connection cannot repair is thrown, to each who waits", async (t) => {
  const { books, opened } = open("unknown", [
    { status: 404, text: '{"error":"Market not found"}' },
  ]);
  const expected = { instanceOf: ApiError, message: "Market not found" };
  await t.throwsAsync(books.ready(), expected);
  await t.throwsAsync(
    until(books, () => true),
    expected,
  );
  await t.throwsAsync(books.closed(), expected);
  t.is(opened.length, 1);
});

test("what ends the books later is thrown, also to a program that does not iterate", async (t) => {
  const { books } = open("revoked", [
    { text: snapshot(7, [[40, 5]], []), end: "break" },
    { status: 503, text: "{}" },
    { status: 400, text: '{"error":"No"}' },
  ]);
  await t.throwsAsync(books.closed(), { instanceOf: ApiError, message: "No" });
  t.false(books.book("m")!.isCurrent);
});

test("waits begin anew only after a connection that lasted, also with snapshots", async (t) => {
  const { books, waits } = open("hasty", [
    ...Array.from({ length: 7 }, () => ({ text: snapshot(7, [], []), end: "break" as const })),
    { status: 401, text: "{}" },
  ]);
  await t.throwsAsync(books.closed(), { instanceOf: ApiError });
  for (const [index, waited] of waits.entries()) {
    const longest = 100 * 2 ** index;
    t.true(waited >= longest / 2 && waited <= longest, `${index}: ${waited} ms`);
  }
  t.is(waits.length, 7);
});

test("closed or aborted, iterating ends", async (t) => {
  const connection: FakeConnection = { text: snapshot(7, [], []), end: "hang" };
  const closed = open("closed", [connection]);
  for await (const { isCurrent } of closed.books) if (isCurrent) closed.books.close();
  const controller = new AbortController();
  const aborted = open("aborted", [connection], { signal: controller.signal });
  for await (const { isCurrent } of aborted.books) if (isCurrent) controller.abort();
  await closed.books.closed();
  await aborted.books.closed();
  const never = open("never", [connection], { signal: AbortSignal.abort() });
  await t.throwsAsync(never.books.ready());
  t.is(never.opened.length, 0);
});

test("books are of 1 to 200 markets", (t) => {
  const ids = Array.from({ length: 201 }, (_, index) => `m${index}`);
  t.throws(() => open("none", [{}], { markets: [] }), { instanceOf: RangeError });
  t.throws(() => open("many", [{}], { markets: ids }), { instanceOf: RangeError });
});
