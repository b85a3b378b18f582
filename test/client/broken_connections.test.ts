import test from "ava";
import type { ExecutionContext } from "ava";
import { ApiError, createClient } from "../../src/client/client.ts";
import type { Client, UserEvent } from "../../src/client/client.ts";
import { realTiming } from "../../src/client/timing.ts";
import { openCuttingProxy } from "../helpers/http/cutting_proxy.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { effort, randomFrom } from "../helpers/random.ts";
import type { Random } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

/** The client against the service, through connections that break at every place. */

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

const TURNS = effort(60);

/** A user who trades by the client, and what it has learned. */
interface Maker {
  trader: Trader;
  client: Client;
  /** Orders that were placed, or that replaced others. */
  orderIds: Set<string>;
  events: UserEvent[];
  eventIds: string[];
  commands: number;
  rejections: number;
  /** Commands that the service answered with what it had answered before. */
  replays: number;
  splits: number;
}

function makeMaker(trader: Trader, url: string, random: Random): Maker {
  const timing = { ...realTiming, random: random.next };
  return {
    ...{ trader, client: createClient({ url, key: trader.key, timing }) },
    ...{ orderIds: new Set(), events: [], eventIds: [], commands: 0, rejections: 0 },
    ...{ replays: 0, splits: 0 },
  };
}

test("two makers trade through broken connections: books, fills and orders are the exchange's", async (t) => {
  t.timeout(240_000);
  const random = randomFrom("broken_connections");
  const proxy = await openCuttingProxy(t, service.url);
  const markets = [await makeMarket(), await makeMarket(), await makeMarket()];
  const makers = [await makeTrader(), await makeTrader()].map((trader) =>
    makeMaker(trader, proxy.url, random),
  );
  const closing = new AbortController();
  t.teardown(() => {
    closing.abort();
  });
  const { signal } = closing;
  const books = makers.map(({ client }) => client.books(markets, { signal }));
  const following = makers.map((maker) => followEvents(maker, signal));
  for (const { ready } of books) await ready();
  for (const { events } of makers) await until("it is connected", async () => events.length > 0);

  const isEnough = ({ events, replays }: Maker) =>
    Object.values(proxy.cuts).every((count) => count > 5) &&
    events.filter(({ type }) => type === "fill").length > 10 &&
    replays > 0;
  // Both go on together: one who trades alone has nobody to fill an order.
  do await Promise.all(makers.map((maker) => trade(maker, { markets, random })));
  while (!makers.every(isEnough));

  for (const marketId of markets) {
    const { body, headers } = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
    for (const held of books) {
      const version = Number(headers.get("x-market-version"));
      await until("it has the last version", async () => {
        const book = held.book(marketId);
        return book?.isCurrent === true && book.version === version;
      });
      const { bids, asks, status } = held.book(marketId)!;
      t.deepEqual({ bids, asks, status }, { ...body, status: "open" });
    }
  }
  for (const maker of makers) await compareEvents(t, maker);
  for (const maker of makers) await compareOrders(t, maker);
  closing.abort();
  await Promise.all(following);
  const { rows } = await service.database.pool.query("select * from ledger.verify()");
  t.deepEqual(rows, []);
  t.log(`cut: ${JSON.stringify(proxy.cuts)}`);
});

async function followEvents(maker: Maker, signal: AbortSignal): Promise<void> {
  const stream = maker.client.userStream({ include: ["fills", "settlements", "markets"], signal });
  for await (const event of stream) {
    maker.events.push(event);
    maker.eventIds.push(stream.lastEventId!);
  }
}

/** Gives random commands: most of them cross the book. */
async function trade(
  maker: Maker,
  { markets, random }: { markets: string[]; random: Random },
): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    maker.commands++;
    try {
      await anyCommand(maker, { marketId: random.anyOf(markets), random });
    } catch (error) {
      if (!(error instanceof ApiError) || error.isOutcomeUnknown || error.status === 401)
        throw error;
      maker.rejections++;
    }
  }
}

async function anyCommand(
  maker: Maker,
  { marketId, random }: { marketId: string; random: Random },
): Promise<void> {
  const { client, orderIds } = maker;
  const side = () => random.anyOf(["yes", "no"] as const);
  const order = () => ({
    ...{ marketId, side: side(), price: random.between(42, 58), quantity: random.between(1, 9) },
    ...(random.chance(0.3) && { selfTrade: "cancel_resting" as const }),
  });
  const path = { id: random.anyOf([...orderIds, "00000000-0000-7000-8000-000000000000"]) };
  const kind = random.between(0, 9);
  if (kind < 5) {
    const { data, isReplay } = await client.send("post", "/api/v1/orders", { body: order() });
    if (isReplay) maker.replays++;
    orderIds.add(data.order.id);
  } else if (kind === 5) {
    const orders = [order(), order(), order()];
    const { results } = await client.post("/api/v1/orders/batch", { body: { orders } });
    for (const { body } of results) if ("order" in body) orderIds.add(body.order.id);
  } else if (kind === 6) {
    const body = { price: random.between(42, 58), quantity: random.between(5, 12) };
    const amended = await client.patch("/api/v1/orders/{id}", { path, body });
    orderIds.add(amended.order.id);
  } else if (kind === 7) await client.delete("/api/v1/orders/{id}", { path });
  else if (kind === 8) {
    await client.post("/api/v1/orders/cancel-batch", { body: { orderIds: [path.id] } });
  } else {
    await client.post("/api/v1/positions/split", { body: { marketId, quantity: 1 } });
    maker.splits++;
  }
}

/** Every event came once, in order, and the fills are those of GET /me/fills. */
async function compareEvents(t: ExecutionContext, maker: Maker): Promise<void> {
  await service.database.pool.query(
    `insert into trading.outbox (channel, payload)
     values ('user_event', json_build_object('userId', $1::text, 'event', '{"type":"mark"}'::json))`,
    [maker.trader.userId],
  );
  const types = () => maker.events.map(({ type }): string => type);
  await until("all earlier events have come", async () => types().includes("mark"), 60_000);
  t.is(types().filter((type) => type === "connected").length, 1);
  const ids = maker.eventIds.map(Number);
  t.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
  );
  const told = maker.events.filter((event) => event.type === "fill");
  const fills = (await allOf(maker.trader, "fills")).toReversed();
  t.deepEqual(
    told.map(({ type: _type, orderStatus: _status, ...fill }): object => fill),
    fills,
  );
}

/** Every command was carried out once. */
async function compareOrders(t: ExecutionContext, maker: Maker): Promise<void> {
  t.true(maker.rejections < maker.commands / 2, `${maker.rejections} of ${maker.commands}`);
  const orders = await allOf(maker.trader, "order-history");
  t.deepEqual(orders.map(({ id }) => id).toSorted(), [...maker.orderIds].toSorted());
  const entries = await allOf(maker.trader, "statement");
  t.is(entries.filter(({ kind }) => kind === "split").length, maker.splits);
}

/** All rows of a list of the caller's, past the proxy. */
async function allOf({ key }: Trader, list: string): Promise<any[]> {
  const rows: any[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const { body } = await call("GET", `/api/v1/me/${list}?limit=200${cursor}`, { key });
    rows.push(...body.data);
    cursor = body.nextCursor === null ? null : `&cursor=${body.nextCursor}`;
  }
  return rows;
}
