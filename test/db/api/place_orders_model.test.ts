import test from "ava";
import type { ExecutionContext } from "ava";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { runModel } from "../../helpers/model/rules.ts";
import type { Model, ModelEvent, ModelOutcome } from "../../helpers/model/state.ts";
import { makeCast, playAndUndo, together } from "../../helpers/model/play.ts";
import type { Played, PlayedOutcome } from "../../helpers/model/play.ts";
import { world } from "../../helpers/model/programs.ts";
import { expectSame, holds } from "../../helpers/model/laws.ts";
import { readText } from "../../helpers/repository.ts";

/** The database against the rules written down plainly in test/helpers/model/rules.ts. */

test("random programs have the same results in the database and in the model", async (t) => {
  await withExchange((exchange) => compare(t, exchange, 60));
});

test("the same when every order is checked before the book is read", async (t) => {
  await withExchange(async (exchange) => {
    const text = readText("db/trading/read/is_large.sql");
    const changed = text.replace("> 100", "> 0");
    t.not(changed, text);
    await exchange.database.pool.query(changed);
    await compare(t, exchange, 40);
  });
});

async function withExchange(work: (exchange: Exchange) => Promise<void>): Promise<void> {
  const exchange = await createExchange();
  try {
    await work(exchange);
  } finally {
    await exchange.database.drop();
  }
}

async function compare(t: ExecutionContext, exchange: Exchange, runs: number): Promise<void> {
  const cast = await makeCast(exchange);
  const ids = await idsOf(exchange, cast.traders, cast.markets);
  const start = {
    now: Date.parse(world.startsAt),
    cents: world.cents,
    limits: world.limits,
    markets: world.markets,
  };
  await holds(t, runs, async (program) => {
    const played = await playAndUndo(exchange, cast, program, together);
    const model = runModel(start, program);
    expectSame("broken", played.broken, []);
    const outcomes = played.outcomes.map((outcome) => asModelled(outcome, played.orderIds));
    expectSame("outcome", outcomes, model.outcomes);
    expectSame(
      "event",
      inAnyOrder(
        played.events.map((event) => asModelledEvent(event, cast.traders, played.orderIds)),
      ),
      inAnyOrder(model.state.events),
    );
    const found = endOf(played, ids);
    for (const [what, rows] of Object.entries(endOfModel(model))) {
      expectSame(what, found[what]!, rows);
    }
  });
}

interface Ids {
  traders: number[];
  markets: number[];
}

/** Internal ids, which need not ascend as the traders and markets were made. */
async function idsOf(exchange: Exchange, traders: string[], markets: string[]): Promise<Ids> {
  const select = async (table: string, publicIds: string[]): Promise<number[]> => {
    const { rows } = await exchange.database.pool.query(
      `select t.id from unnest($1::uuid[]) with ordinality as p (id, place)
       join ${table} as t on t.public_id = p.id order by p.place`,
      [publicIds],
    );
    return rows.map((row) => row.id);
  };
  return {
    traders: await select("identity.users", traders),
    markets: await select("catalog.markets", markets),
  };
}

function asModelled({ code, replayed, body }: PlayedOutcome, orderIds: string[]): ModelOutcome {
  if (code !== null) return { code, replayed };
  const { order, fills, cancelledOrders, balance, feeCents } = body;
  if (order === undefined) {
    const results = body.results?.map((result: any) =>
      asModelled({ ...result, body: JSON.parse(result.body) }, orderIds),
    );
    return {
      ...{ code, replayed, cents: balance.total },
      ...(results && { results }),
      ...("cancelled" in body && { count: body.cancelled }),
    };
  }
  const isBuyer = (fill: any) => fill.buyOrderId === order.id;
  const common = {
    code: null,
    replayed,
    order: {
      number: orderIds.indexOf(order.id),
      quantity: order.quantity,
      filled: order.filledQuantity,
      status: order.status,
      reason: order.cancelReason,
    },
  };
  const shownFills = fills?.map((fill: any) => ({
    yesPrice: fill.price,
    quantity: fill.quantity,
    maker: orderIds.indexOf(isBuyer(fill) ? fill.sellOrderId : fill.buyOrderId),
  }));
  if ("amended" in body) {
    const { amended, cancelledOrderId } = body;
    if (!body.queuePositionChanged) return { ...common, amended, replaced: null };
    const replaced = orderIds.indexOf(cancelledOrderId);
    return { ...common, amended, replaced, fills: shownFills, fee: feeCents };
  }
  if (cancelledOrders === undefined) return { ...common, cents: balance.total };
  return {
    ...common,
    fills: shownFills,
    cancelled: cancelledOrders.map((dead: any) => ({
      order: orderIds.indexOf(dead.id),
      reason: dead.cancelReason,
      filled: dead.filledQuantity,
    })),
    cents: balance.total,
    fee: feeCents,
  };
}

function asModelledEvent(
  { userId, event }: any,
  traders: string[],
  orderIds: string[],
): ModelEvent {
  const told = {
    trader: traders.indexOf(userId),
    type: event.type,
    orders: (event.orderIds ?? [event.orderId]).map((id: string) => orderIds.indexOf(id)),
  };
  switch (told.type) {
    case "maker_fill":
      return { ...told, fills: event.fillCount };
    case "order_cancelled":
      return { ...told, reason: event.cancelReason };
    case "order_released":
      return {
        ...told,
        status: event.status,
        reason: event.cancelReason,
        fills: event.fills,
        cents: event.balance,
        fee: event.feeCents,
      };
    default:
      return told;
  }
}

function inAnyOrder(events: ModelEvent[]): string[] {
  return events.map((event) => JSON.stringify(event, Object.keys(event).sort())).sort();
}

/** Orders, cash, shares and figures at the end, in lines that can be compared. */
function endOf({ state }: Played, { traders, markets }: Ids): Record<string, unknown[]> {
  const market = (row: any) => markets.indexOf(row.market_id);
  const trader = (row: any) => traders.indexOf(row.user_id);
  return {
    orders: state.orders.map((row) => [
      ...[market(row), trader(row), row.side, row.order_type, row.price],
      ...[row.quantity, row.filled_quantity, row.status, row.cancel_reason],
    ]),
    cents: traders.map((id) => state.accounts.find(({ user_id }) => user_id === id).balance_cents),
    // A position that was opened and closed for nothing is one that the model may not remember.
    holdings: state.positions
      .filter(({ quantity, cost_cents, realised_cents }) =>
        [quantity, cost_cents, realised_cents].some((value) => value !== 0),
      )
      .map((row) => [
        `${market(row)} ${trader(row)} ${row.side}`,
        row.quantity,
        row.cost_cents,
        row.fee_cents,
        row.realised_cents,
      ])
      .sort(),
    markets: markets
      .map((id) => state.books.find(({ market_id }) => market_id === id))
      .map((row) => [
        ...[row.version, row.last_trade_price, row.yes_volume_cents, row.no_volume_cents],
        row.revenue_cents,
      ]),
    keys: state.keys
      .map((row) => [
        `${trader(row)} ${Number(row.key.at(-1))}`,
        row.number === null ? "a command" : Number(row.number) - 1,
        row.created_at.getTime(),
      ])
      .sort(),
  };
}

function endOfModel({ state }: Model): Record<string, unknown[]> {
  return {
    orders: state.orders.map((order) => [
      ...[order.market, order.trader, order.side, order.orderType, order.price],
      ...[order.quantity, order.filled, order.status, order.reason],
    ]),
    cents: state.traders.map(({ cents }) => cents),
    holdings: [...state.holdings]
      .filter(([, held]) => held.quantity !== 0 || held.realised !== 0 || held.cost !== 0)
      .map(([name, held]) => [name, held.quantity, held.cost, held.fees, held.realised])
      .sort(),
    markets: state.markets.map(({ version, lastPrice, yesVolume, noVolume, revenue }) => [
      version,
      lastPrice,
      yesVolume,
      noVolume,
      revenue,
    ]),
    keys: [...state.keys].map(([name, { order, at }]) => [name, order ?? "a command", at]).sort(),
  };
}
