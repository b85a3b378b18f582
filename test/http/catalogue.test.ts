import test from "ava";
import {
  eventWithMarketsSchema,
  listCategoriesResponseSchema,
  listEventsResponseSchema,
  listMarketsResponseSchema,
  outcomesSchema,
} from "../../src/api/catalogue.ts";
import { testService } from "../helpers/http/test_service.ts";

const { call, makeTrader, operate } = testService(test, { idsAscend: true });

const noSuchId = "01900000-0000-7000-8000-000000000000";
const thumbnailId = "01900000-0000-7000-8000-00000000000a";

let made = 0;

/** A category of the test's own. */
async function makeCategory(): Promise<string> {
  made += 1;
  return await operate("create_category", { slug: `category-${made}`, name: `Category ${made}` });
}

const makeMarket = (category: string, options: Record<string, unknown> = {}): Promise<string> =>
  operate("create_market", { title: "Will it rain?", category, ...options });

const setStatus = (market_id: string, status: string) =>
  operate("set_market_status", { market_id, status });

test("200: categories in display order", async (t) => {
  await operate("create_category", { slug: "the-first", name: "The first", position: -1 });
  const answer = await call("GET", "/api/v1/categories");
  t.is(answer.status, 200);
  t.is(answer.headers.get("cache-control"), "public, s-maxage=60, stale-while-revalidate=300");
  t.notThrows(() => listCategoriesResponseSchema.parse(answer.body));
  t.deepEqual(answer.body.data.slice(0, 2), [
    { slug: "the-first", name: "The first" },
    { slug: "tests", name: "Tests" },
  ]);
});

test("200: events of a category, newest first, by pages", async (t) => {
  const category = await makeCategory();
  await operate("create_event", { title: "Elsewhere", category: "tests" });
  const ids: string[] = [];
  for (const title of ["One", "Two", "Three"]) {
    ids.unshift(await operate("create_event", { title, category }));
  }
  const page = async (query: string) => {
    const answer = await call("GET", `/api/v1/categories/${category}/events?${query}`);
    t.is(answer.status, 200);
    t.is(answer.headers.get("cache-control"), "public, s-maxage=10, stale-while-revalidate=30");
    const { data, meta } = listEventsResponseSchema.parse(answer.body);
    return { ids: data.map(({ id }) => id), meta };
  };
  t.deepEqual(await page(""), {
    ids,
    meta: { total: 3, page: 1, limit: 20, hasMore: false },
  });
  t.deepEqual(await page("limit=2&unknown=ignored"), {
    ids: ids.slice(0, 2),
    meta: { total: 3, page: 1, limit: 2, hasMore: true },
  });
  t.deepEqual(await page("limit=2&page=2"), {
    ids: ids.slice(2),
    meta: { total: 3, page: 2, limit: 2, hasMore: false },
  });
  t.deepEqual(await page("page=2147483647&limit=50"), {
    ids: [],
    meta: { total: 3, page: 2_147_483_647, limit: 50, hasMore: false },
  });
});

test("200: an event, in the list and with its markets in the order of creation", async (t) => {
  const category = await makeCategory();
  const bare = await operate("create_event", { title: "Bare", category });
  const id = await operate("create_event", {
    title: `The "final"`,
    category,
    description: "Line one\nLine two",
    starts_at: "2090-01-01T12:00:00Z",
    ends_at: "2090-01-01T14:00:00Z",
    thumbnail_id: thumbnailId,
    thumbnail_url: "https://images.example/1.png",
  });
  const first = await makeMarket(category, {
    title: "First?",
    description: "The first",
    event_id: id,
    close_time: "2090-01-01T13:00:00Z",
    thumbnail_id: thumbnailId,
    thumbnail_url: "https://images.example/2.png",
  });
  const second = await makeMarket(category, { title: "Second?", event_id: id });
  await makeMarket(category);
  await setStatus(second, "paused");

  const answer = await call("GET", `/api/v1/events/${id.toUpperCase()}`);
  t.is(answer.status, 200);
  t.is(answer.headers.get("cache-control"), "public, s-maxage=10, stale-while-revalidate=30");
  const { markets, ...event } = eventWithMarketsSchema.parse(answer.body);
  t.deepEqual(event, {
    id,
    title: `The "final"`,
    description: "Line one\nLine two",
    category,
    startsAt: "2090-01-01T12:00:00.000Z",
    endsAt: "2090-01-01T14:00:00.000Z",
    createdAt: event.createdAt,
    thumbnailId,
    thumbnailUrl: "https://images.example/1.png",
  });
  const untraded = { lastTradePrice: null, yesVolume: 0, noVolume: 0, resolvedOutcome: null };
  t.deepEqual(markets, [
    {
      id: first,
      title: "First?",
      description: "The first",
      status: "open",
      ...untraded,
      closeTime: "2090-01-01T13:00:00.000Z",
      thumbnailId,
      thumbnailUrl: "https://images.example/2.png",
    },
    {
      id: second,
      title: "Second?",
      description: "",
      status: "paused",
      ...untraded,
      closeTime: null,
      thumbnailId: null,
      thumbnailUrl: null,
    },
  ]);

  const list = await call("GET", `/api/v1/categories/${category}/events`);
  const alone = (await call("GET", `/api/v1/events/${bare}`)).body;
  t.deepEqual(alone.markets, []);
  t.is(alone.description, null);
  delete alone.markets;
  t.deepEqual(list.body.data, [event, alone]);
});

test("200: a market in the list is the market itself without its best prices", async (t) => {
  const category = await makeCategory();
  const event_id = await operate("create_event", { title: "Election", category });
  const marketId = await makeMarket(category, { event_id, close_time: "2090-01-01T13:00:00Z" });
  const [maker, taker] = [await makeTrader(), await makeTrader()];
  for (const [{ key }, side, price] of [
    [maker, "no", 40],
    [taker, "yes", 60],
    [maker, "yes", 20],
  ] as const) {
    await call("POST", "/api/v1/orders", { key, body: { marketId, side, price, quantity: 5 } });
  }
  const { body: single } = await call("GET", `/api/v1/markets/${marketId}`);
  t.like(single, { bestBid: 20, bestAsk: null, lastTradePrice: 60, eventId: event_id });
  delete single.bestBid;
  delete single.bestAsk;
  const answer = await call("GET", `/api/v1/categories/${category}/markets`);
  t.notThrows(() => listMarketsResponseSchema.parse(answer.body));
  t.deepEqual(answer.body.data, [single]);
  t.is(answer.headers.get("cache-control"), "public, s-maxage=10, stale-while-revalidate=30");
});

test("200: markets of a category by status, newest first, by pages", async (t) => {
  const category = await makeCategory();
  const titles = ["a", "b", "c", "d", "e", "f"];
  const ids = new Map<string, string>();
  for (const title of titles) ids.set(title, await makeMarket(category, { title }));
  const page = async (query: string) => {
    const answer = await call("GET", `/api/v1/categories/${category}/markets?${query}`);
    t.is(answer.status, 200);
    const { data, meta } = listMarketsResponseSchema.parse(answer.body);
    return [data.map(({ title }) => title).join(""), meta.total, meta.hasMore];
  };
  t.deepEqual(await page("status=closed"), ["", 0, false]);
  await setStatus(ids.get("b")!, "closed");
  await setStatus(ids.get("d")!, "closed");
  await setStatus(ids.get("f")!, "paused");
  t.deepEqual(await page(""), ["eca", 3, false]);
  t.deepEqual(await page("status=open&limit=2"), ["ec", 3, true]);
  t.deepEqual(await page("status=open&limit=2&page=2"), ["a", 3, false]);
  t.deepEqual(await page("status=open&page=3"), ["", 3, false]);
  t.deepEqual(await page("status=closed"), ["db", 2, false]);
  t.deepEqual(await page("status=closed&limit=1&page=2"), ["b", 2, false]);
});

for (const view of ["events", "markets"]) {
  test(`404: no such category: /categories/:slug/${view}`, async (t) => {
    const written = ["nowhere", "Tests", "x".repeat(300), "-", "all"];
    const encoded = ["%00", "a%2Fb", "%27", "%ZZ", "%E0%A4%A"];
    for (const slug of [...written, ...encoded]) {
      const answer = await call("GET", `/api/v1/categories/${slug}/${view}`);
      t.is(answer.status, 404);
      t.deepEqual(answer.body, { error: "Category not found" });
      t.is(answer.headers.get("cache-control"), "no-store");
    }
  });
}

test("404: no such event; 400: an id that is no UUID", async (t) => {
  const unknown = await call("GET", `/api/v1/events/${noSuchId}`);
  t.is(unknown.status, 404);
  t.deepEqual(unknown.body, { error: "Event not found" });
  t.is(unknown.headers.get("cache-control"), "no-store");
  for (const id of ["1", "%00", "%E0%A4%A", `${noSuchId}0`]) {
    const answer = await call("GET", `/api/v1/events/${id}`);
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { error: "Invalid id" });
  }
});

for (const [path, field, message] of [
  ["events?page=0", "page", "must be at least 1"],
  ["events?limit=51", "limit", "must be at most 50"],
  ["markets?page=x", "page", "must be an integer"],
  ["markets?limit=0", "limit", "must be at least 1"],
  ["markets?status=all", "status", "must be one of open, closed"],
  ["markets?status=resolved", "status", "must be one of open, closed"],
  ["markets?status=", "status", "must be one of open, closed"],
] as const) {
  test(`400 INVALID_REQUEST: /categories/:slug/${path}`, async (t) => {
    const answer = await call("GET", `/api/v1/categories/tests/${path}`);
    t.is(answer.status, 400);
    t.deepEqual(answer.body, {
      error: `${field}: ${message}`,
      code: "INVALID_REQUEST",
      issues: [{ path: field, message }],
    });
  });
}

test("200: events of all categories, by words, and the outcomes of one", async (t) => {
  const category = await makeCategory();
  const event_id = await operate("create_event", {
    ...{ title: "Zeppelin race", category, exclusive: true },
  });
  const ann = await makeMarket(category, { event_id, outcome_name: "Ann" });
  const bob = await makeMarket(category, { event_id, title: "Will Bob win?" });
  const listed = await call("GET", "/api/v1/events?query=zeppelin&sort=newest&limit=1");
  t.is(listed.status, 200);
  t.is(listed.headers.get("cache-control"), "public, s-maxage=10, stale-while-revalidate=30");
  const { data, meta } = listEventsResponseSchema.parse(listed.body);
  t.deepEqual([data[0]!.id, data.length], [event_id, 1]);
  t.deepEqual(meta, { total: 1, page: 1, limit: 1, hasMore: false });
  const closed = await call("GET", "/api/v1/events?query=zeppelin&status=closed");
  t.is(closed.body.meta.total, 0);

  const answer = await call("GET", `/api/v1/events/${event_id}/outcomes`);
  t.is(answer.status, 200);
  t.is(answer.headers.get("cache-control"), "public, s-maxage=10, stale-while-revalidate=30");
  const { exclusive, outcomes } = outcomesSchema.parse(answer.body);
  t.true(exclusive);
  t.deepEqual(
    outcomes.map(({ marketId, outcomeName, position }) => [marketId, outcomeName, position]),
    [
      [ann, "Ann", 1],
      [bob, "Will Bob win?", 2],
    ],
  );
});

test("400: events of an unknown status or order; 404: outcomes of an unknown event", async (t) => {
  for (const query of ["status=all", "sort=worst", "limit=0", "query=%0A"]) {
    t.is((await call("GET", `/api/v1/events?${query}`)).status, 400, query);
  }
  t.is((await call("GET", `/api/v1/events/${noSuchId}/outcomes`)).status, 404);
});
