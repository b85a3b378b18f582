import type { TestService } from "../helpers/http/test_service.ts";

/** Markets with trades, books and standings, so that pages have something to show. */
export async function makeBusyExchange(service: TestService): Promise<{ marketIds: string[] }> {
  const { call, makeTrader, operate } = service;
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
  const [maker, taker] = [await makeTrader(), await makeTrader()];
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
  return { marketIds };
}
