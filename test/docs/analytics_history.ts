import type { Exchange } from "../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell } from "../helpers/exchange/orders.ts";
import type { Request, Side } from "../helpers/exchange/orders.ts";

/**
 * Four days of a small exchange, the same every time: a market maker, three traders who take and
 * leave, and two who trade with each other only. At their end two of four markets are resolved.
 */
export async function playHistory(exchange: Exchange): Promise<void> {
  const { clock } = exchange;
  await clock.freeze("2030-01-01T00:00:00Z");
  const world = await makeWorld(exchange);
  const random = makeRandom();
  for (let day = 0; day < 4; day++) {
    for (let hour = 8; hour < 16; hour++) {
      await clock.freeze(new Date(Date.UTC(2030, 0, 1 + day, hour)));
      for (const [index, market] of world.markets.entries()) {
        if (market.resolvedOn !== undefined && day >= market.resolvedOn) continue;
        await quote(exchange, world, market, random);
        await take(exchange, world, market, random, index + day);
      }
    }
    await washTrade(exchange, world);
    await improve(exchange, world);
    for (const market of world.markets) {
      if (market.resolvedOn !== day + 1) continue;
      const { id: market_id, outcome } = market;
      await exchange.operate("resolve_market", { market_id, outcome });
    }
  }
}

interface Market {
  id: string;
  fair: number;
  drift: number;
  resolvedOn?: number;
  outcome?: string;
  live?: boolean;
}

interface World {
  markets: Market[];
  users: Record<string, string>;
  /** Of the maker, by market. */
  quotes: Map<string, string[]>;
}

type Random = (least: number, most: number) => number;

function makeRandom(): Random {
  let state = 42;
  return (least, most) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return least + (Math.floor(state / 65_536) % (most - least + 1));
  };
}

async function makeWorld({ operate }: Exchange): Promise<World> {
  await operate("create_category", { slug: "weather", name: "Weather" });
  await operate("create_category", { slug: "rates", name: "Rates" });
  await operate("set_fee_schedule", {
    ...{ taker_rate_bps: 400, category: "rates", effective_from: "2030-01-03T00:00:00Z" },
  });
  const event_id = await operate("create_event", {
    ...{ title: "Press conference", category: "rates", live: true, live_delay_ms: 3000 },
  });
  const make = (title: string, category: string, event?: string) =>
    operate("create_market", { title, category, ...(event && { event_id: event }) });
  const markets: Market[] = [
    {
      id: await make("Rain on Monday?", "weather"),
      fair: 50,
      drift: 4,
      resolvedOn: 2,
      outcome: "yes",
    },
    { id: await make("Rate cut?", "rates"), fair: 40, drift: -3, resolvedOn: 3, outcome: "no" },
    { id: await make("A white winter?", "weather"), fair: 30, drift: 0 },
    { id: await make("A word on inflation?", "rates", event_id), fair: 60, drift: 1, live: true },
  ];
  const users: Record<string, string> = {};
  for (const handle of ["mona", "ben", "cem", "dora", "eve", "finn"]) {
    const user_id: string = await operate("create_user", {
      ...{ email: `${handle}@example.org`, display_name: handle, handle },
    });
    const amount_cents = handle === "mona" ? 1_000_000 : 50_000;
    await operate("deposit", { user_id, amount_cents, reference: "start" });
    const day_cents = handle === "ben" ? 6000 : null;
    await operate("set_loss_limits", { user_id, day_cents, week_cents: null, month_cents: null });
    users[handle] = user_id;
  }
  return { markets, users, quotes: new Map() };
}

/** The maker takes back the quotes of the hour before, and gives new ones around a new price. */
async function quote(
  { cancel, clock, placeBatch, release }: Exchange,
  ...[{ users, quotes }, market, random]: [World, Market, Random]
): Promise<void> {
  const maker = users.mona!;
  for (const order of quotes.get(market.id) ?? []) await cancel(maker, order);
  market.fair = Math.min(95, Math.max(5, market.fair + market.drift / 4 + random(-2, 2)));
  const fair = Math.round(market.fair);
  const quoted: string[] = [];
  for (const [away, quantity] of [
    [1, 20],
    [2, 40],
    [4, 80],
  ] as const) {
    const outcomes = await placeBatch(market.id, [
      [maker, buy("yes", quantity, Math.max(1, fair - away))],
      [maker, buy("no", quantity, Math.max(1, 100 - fair - away))],
    ]);
    for (const { answer } of outcomes) if (answer) quoted.push(answer.order.id);
  }
  quotes.set(market.id, quoted);
  await clock.advance(market.live ? 3250 : 1000);
  await release(market.id);
}

/** Two traders come some minutes later: by market orders, by limits that rest, or to sell. */
async function take(
  { clock, placeBatch, position, release }: Exchange,
  ...[{ users }, market, random, shift]: [World, Market, Random, number]
): Promise<void> {
  const handles = ["ben", "cem", "dora"];
  for (let turn = 0; turn < 2; turn++) {
    await clock.advance(random(20, 600) * 1000);
    const trader = users[handles[(turn + shift + random(0, 1)) % 3]!]!;
    const side: Side = random(0, 99) < market.fair ? "yes" : "no";
    const held = await position(market.id, trader, side);
    const fair = Math.round(side === "yes" ? market.fair : 100 - market.fair);
    const kind = random(0, 5);
    let request: Request = buy(side, random(5, 70), undefined, ioc);
    if (kind === 1) request = buy(side, random(5, 30), Math.max(1, fair - 3));
    if (kind === 2) request = buy(side, random(5, 30), Math.min(99, fair + 2));
    if (kind >= 3 && held.quantity > 0) request = sell(side, held.quantity, undefined, ioc);
    await placeBatch(market.id, [[trader, request]]);
    if (market.live) {
      await clock.advance(3000 + random(5, 60));
      await release(market.id);
    }
  }
}

/** Cem improves an order twice, and makes it smaller. */
async function improve(
  { amend, cancel, rest }: Exchange,
  { markets, users }: World,
): Promise<void> {
  const cem = users.cem!;
  let [id] = await rest(markets[2]!.id, cem, buy("yes", 5, 1));
  for (const amendment of [{ price: 2 }, { price: 4, quantity: 9 }, { quantity: 7 }]) {
    id = (await amend(cem, id, amendment)).answer!.order.id;
  }
  await cancel(cem, id);
}

/** Eve and Finn pass the same shares to each other and back, and each also trades with the maker. */
async function washTrade(
  { clock, placeBatch }: Exchange,
  { markets, users }: World,
): Promise<void> {
  const market = markets[2]!.id;
  const [eve, finn] = [users.eve!, users.finn!];
  await clock.advance(3_600_000);
  for (const [first, second] of [
    [eve, finn],
    [finn, eve],
  ] as const) {
    await placeBatch(market, [[first, buy("yes", 25, Math.round(markets[2]!.fair))]]);
    await placeBatch(market, [[second, buy("no", 25, 100 - Math.round(markets[2]!.fair))]]);
    await placeBatch(market, [[second, buy("yes", 10, undefined, ioc)]]);
    await clock.advance(60_000);
  }
}
