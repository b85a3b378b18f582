import test from "ava";
import {
  leaderboardSchema,
  leaderboardSummarySchema,
  ownStandingSchema,
} from "../../src/api/leaderboard.ts";
import { traderName } from "../helpers/exchange/test_exchange.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

/** One history: each test continues where the one before ended. */

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders, operate } = service;

const nameOf = (number: number) => {
  const { handle, display_name: displayName } = traderName(number);
  return { handle, displayName };
};

let [ann, bob, cleo]: Trader[] = [];
let rain = "";

async function place(trader: Trader, order: Record<string, unknown>): Promise<void> {
  const answer = await call("POST", "/api/v1/orders", { key: trader.key, body: order });
  if (answer.status !== 201) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
}

async function read(query = "") {
  const { status, headers, body } = await call("GET", `/api/v1/leaderboard${query}`);
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  if (headers.get("cache-control") !== "no-store") throw new Error("may be kept");
  return leaderboardSchema.parse(body);
}

async function summary(query = "") {
  const { status, headers, body } = await call("GET", `/api/v1/leaderboard/summary${query}`);
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  if (headers.get("cache-control") !== "no-store") throw new Error("may be kept");
  return leaderboardSummarySchema.parse(body);
}

async function own({ key }: Trader, query = "") {
  const { status, body } = await call("GET", `/api/v1/leaderboard/me${query}`, { key });
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  return ownStandingSchema.parse(body).self;
}

const nothing = {
  category: "all",
  window: "all",
  traderCount: 0,
  totalVolumeCents: 0,
  openInterestCents: 0,
  topTrader: null,
  biggestSingleWin: null,
  medianTrader: null,
  snapshotAt: null,
};

test.serial("200: zeros and nulls before the first snapshot", async (t) => {
  [ann, bob, cleo] = await makeTraders(3);
  rain = await makeMarket();
  // Ann pays 40 and a fee for each of 10 shares, Bob 60. Cleo has not bought yet.
  await place(bob, { marketId: rain, side: "no", price: 60, quantity: 10 });
  await place(ann, { marketId: rain, side: "yes", price: 40, quantity: 10 });
  t.deepEqual(await read(), { category: "all", window: "all", entries: [] });
  t.deepEqual(await summary(), nothing as any);
  t.is(await own(ann), null);
});

test.serial("200: open interest alone, while no user has realised anything", async (t) => {
  const at: Date = await operate("refresh_leaderboard", {});
  t.deepEqual(await summary("?category=tests&window=week"), {
    ...nothing,
    category: "tests",
    window: "week",
    openInterestCents: 1000,
    snapshotAt: at.toISOString(),
  } as any);
  t.deepEqual((await read()).entries, []);
});

test.serial("200: settled positions, best first", async (t) => {
  // Cleo buys 5 of Ann's shares at 50 and breaks even but for the fee.
  await place(cleo!, { marketId: rain, side: "yes", price: 50, quantity: 5 });
  await place(ann!, { marketId: rain, side: "yes", price: 50, quantity: 5, orderType: "sell" });
  await operate("resolve_market", { market_id: rain, outcome: "yes" });
  t.deepEqual((await read()).entries, [], "not before the refresh");
  await operate("refresh_leaderboard", {});

  // Ann: fee of the purchase 17, of which 9 went with the shares sold; fee of the sale 9.
  const sale = 5 * 50 - 9 - 5 * 40 - 9;
  const settlement = 5 * 100 - 5 * 40 - 8;
  const { entries } = await read("?window=day&category=tests");
  t.deepEqual(entries, [
    {
      rank: 1,
      userId: ann!.userId,
      ...nameOf(1),
      avatarUrl: null,
      plCents: sale + settlement,
      volCents: 200,
      winRate: 1,
      roi: (sale + settlement) / 200,
      settledCount: 1,
    },
    {
      rank: 2,
      userId: cleo!.userId,
      ...nameOf(3),
      avatarUrl: null,
      plCents: 250,
      volCents: 250,
      winRate: 1,
      roi: 1,
      settledCount: 1,
    },
    {
      rank: 3,
      userId: bob!.userId,
      ...nameOf(2),
      avatarUrl: null,
      plCents: -600,
      volCents: 600,
      winRate: 0,
      roi: -1,
      settledCount: 1,
    },
  ]);
  t.deepEqual(await own(cleo!), entries[1] as any);
  t.is((await read("?limit=2")).entries.length, 2);
  const { snapshotAt, ...rest } = await summary("?window=day");
  t.not(snapshotAt, null);
  t.deepEqual(rest, {
    category: "all",
    window: "day",
    traderCount: 3,
    totalVolumeCents: 1050,
    openInterestCents: 0,
    topTrader: {
      userId: ann!.userId,
      ...nameOf(1),
      avatarUrl: null,
      plCents: sale + settlement,
    },
    biggestSingleWin: {
      userId: ann!.userId,
      ...nameOf(1),
      avatarUrl: null,
      marketId: rain,
      marketTitle: "Will it rain?",
      eventId: null,
      eventTitle: null,
      plCents: settlement,
    },
    medianTrader: { plCents: 250, winRate: 1, settledCount: 1 },
  });
});

for (const field of ["private", "leaderboard_opt_out"]) {
  test.serial(`200: ${field} takes effect at once, and only on what others see`, async (t) => {
    const before = await own(ann!);
    await operate("set_profile", { user_id: ann!.userId, [field]: true });
    const { entries } = await read();
    t.deepEqual(entries[0] as any, { isPrivate: true, rank: 1 });
    const shown = await summary();
    t.is(shown.traderCount, 2);
    t.is(shown.topTrader!.userId, cleo!.userId);
    t.is(shown.biggestSingleWin!.userId, cleo!.userId);
    t.is(shown.totalVolumeCents, 1050);
    t.deepEqual(await own(ann!), before);

    await operate("refresh_leaderboard", {});
    t.like(await summary(), { traderCount: 2, topTrader: shown.topTrader });
    await operate("set_profile", { user_id: ann!.userId, [field]: false });
    t.is((await summary()).traderCount, 3);
    t.is((await summary()).topTrader!.userId, ann!.userId);
  });
}

test.serial("200: a new name is shown at once", async (t) => {
  const avatar_url = "https://pictures.example/ann.png";
  await operate("set_profile", { user_id: ann!.userId, display_name: "Ann", avatar_url });
  t.like((await read()).entries[0], { displayName: "Ann", avatarUrl: avatar_url });
  t.like(await own(ann!), { displayName: "Ann", avatarUrl: avatar_url });
});

test.serial("200: a trader without results in the category has no self", async (t) => {
  await operate("create_category", { slug: "empty", name: "Empty" });
  t.is(await own(ann!, "?category=empty"), null);
  t.is(await own(await makeTrader()), null);
});

for (const path of ["", "/summary", "/me"]) {
  for (const category of ["nowhere", "No Where", "%00", ""]) {
    test.serial(`400: category "${category}" of /leaderboard${path}`, async (t) => {
      const url = `/api/v1/leaderboard${path}?category=${category}`;
      const answer = await call("GET", url, ann);
      t.is(answer.status, 400);
      t.deepEqual(answer.body, { error: `Unknown category: ${decodeURIComponent(category)}` });
    });
  }

  test.serial(`400 INVALID_REQUEST: an unknown window of /leaderboard${path}`, async (t) => {
    const answer = await call("GET", `/api/v1/leaderboard${path}?window=year`, ann);
    t.is(answer.status, 400);
    t.is(answer.body.code, "INVALID_REQUEST");
    t.is(answer.body.error, "window: must be one of day, week, month, ytd, all");
  });
}

for (const limit of ["0", "101", "x"]) {
  test.serial(`400 INVALID_REQUEST: limit ${limit}`, async (t) => {
    const answer = await call("GET", `/api/v1/leaderboard?limit=${limit}`);
    t.is(answer.status, 400);
    t.is(answer.body.code, "INVALID_REQUEST");
  });
}
