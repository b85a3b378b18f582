import { testClock } from "../helpers/database/test_clock.ts";
import type { TestService } from "../helpers/http/test_service.ts";

/** What there is to visit. */
export interface BusyExchange {
  marketIds: string[];
  eventId: string;
  emptyMarketId: string;
  pausedMarketId: string;
  resolvedMarketId: string;
}

/** Markets with trades, books and standings, so that pages have something to show. */
export async function makeBusyExchange(service: TestService): Promise<BusyExchange> {
  const { call, makeTraders, operate } = service;
  await operate("create_category", { slug: "economy", name: "Economy" });
  await operate("create_category", { slug: "sports", name: "Sports" });
  const eventId = await operate("create_event", {
    title: "Next ECB rate decision",
    category: "economy",
    description: "The next regular monetary policy meeting of the Governing Council.",
  });
  const titles: [string, string, string | null][] = [
    ["Will the ECB cut its deposit rate at its next meeting?", "economy", eventId],
    ["Will the ECB leave its deposit rate where it is?", "economy", eventId],
    ["Will inflation in the euro area be below 2% this year?", "economy", null],
    ["Will a team from Spain win the Champions League?", "sports", null],
  ];
  const [maker, taker] = await makeTraders(2);
  const marketIds: string[] = [];
  for (const [index, [title, category, event]] of titles.entries()) {
    const marketId = await operate("create_market", {
      ...{ title, category, event_id: event },
      description:
        "YES if the rate announced after the meeting is below the one before it. " +
        "The announcement of the ECB on its website counts.",
      close_time: new Date(Date.now() + (index + 3) * 86_400_000),
    });
    marketIds.push(marketId);
    const middle = 35 + index * 12;
    for (let level = 1; level <= 9; level++) {
      const place = (body: object) =>
        call("POST", "/api/v1/orders", {
          key: maker.key,
          body: { marketId, quantity: 40 * level + 10 * index, ...body },
        });
      await place({ side: "yes", price: middle - level });
      await place({ side: "no", price: 100 - middle - level });
    }
    for (const [side, quantity] of [
      ["yes", 30],
      ["no", 20],
      ["yes", 60],
      ["yes", 5],
    ] as const) {
      await call("POST", "/api/v1/orders", {
        key: taker.key,
        body: { marketId, side, price: null, quantity },
      });
    }
  }
  const market = (title: string): Promise<string> =>
    operate("create_market", { title, category: "economy", event_id: eventId });
  const emptyMarketId = await market("Will the ECB buy gold this year?");
  const pausedMarketId = await market("Will the meeting be held on its day?");
  await operate("set_market_status", { market_id: pausedMarketId, status: "paused" });
  const resolvedMarketId = await market("Did the ECB change its rate last time?");
  await operate("resolve_market", { market_id: resolvedMarketId, outcome: "no" });
  return { marketIds, eventId, emptyMarketId, pausedMarketId, resolvedMarketId };
}

const HOUR_MS = 3_600_000;
const PAST_HOURS = 7 * 24;

/** A market that was traded for a week, at prices that wander from 35 to 60 and back a little. */
export async function makeMarketWithPast(service: TestService): Promise<string> {
  const { call, makeTraders, operate } = service;
  const { eventId } = await makeBusyExchange(service);
  const clock = testClock(service.database.pool);
  await clock.freeze(new Date(Date.now() - PAST_HOURS * HOUR_MS));
  const marketId = await operate("create_market", {
    title: "Will the ECB cut its deposit rate in December?",
    ...{ category: "economy", event_id: eventId },
    description:
      "YES if the rate announced after the meeting is below the one before it. " +
      "The announcement of the ECB on its website counts.",
    close_time: new Date(Date.now() + 17 * 24 * HOUR_MS),
  });
  const [maker, taker] = await makeTraders(2);
  const place = (key: string, body: object) =>
    call("POST", "/api/v1/orders", { key, body: { marketId, ...body } });
  let price = 0;
  for (let hour = 0; hour < PAST_HOURS; hour += 2) {
    const share = hour / PAST_HOURS;
    price = Math.round(35 + 27 * share + 5 * Math.sin(share * 9) + 3 * Math.sin(share * 41));
    const quantity = 20 + ((hour * 7) % 60);
    await place(maker.key, { side: "no", price: 100 - price, quantity });
    await place(taker.key, { side: "yes", price, quantity });
    await clock.advance(2 * HOUR_MS);
  }
  await clock.release();
  for (let level = 1; level <= 9; level++) {
    const quantity = 40 * level + ((level * 37) % 50);
    await place(maker.key, { side: "yes", price: price - level, quantity });
    await place(maker.key, { side: "no", price: 100 - price - level, quantity: quantity + 25 });
  }
  for (const [side, quantity] of [
    ["yes", 15],
    ["no", 40],
    ["yes", 25],
  ] as const) {
    await place(taker.key, { side, price: null, quantity });
  }
  return marketId;
}
