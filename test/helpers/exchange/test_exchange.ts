import type { TestFn } from "ava";
import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import type { CallsOn } from "../../../src/database/call.ts";
import type { api as apiFunctions } from "../../../src/database/calls.ts";
import type { OrderRequest } from "../../../src/database/calls.ts";
import {
  amendOrderResponseSchema,
  cancelOrderResponseSchema,
  listOrdersResponseSchema,
  placeOrderResponseSchema,
} from "../../../src/api/orders.ts";
import { orderDetailSchema, orderSchema } from "../../../src/api/order_schemas.ts";
import { exchangeSharesResponseSchema } from "../../../src/api/event_shares.ts";
import { convertSetsResponseSchema } from "../../../src/api/positions.ts";
import { testClock } from "../database/test_clock.ts";
import type { TestClock } from "../database/test_clock.ts";
import { createDatabase, withClient, withRollback } from "../database/test_database.ts";
import { verifyRows } from "../database/invariants.ts";
import type { OwnDatabase } from "../database/test_database.ts";
import { callsOnce } from "./calls_once.ts";
import { listenTo } from "./event_listener.ts";
import type { Listener } from "./event_listener.ts";
import { placeOrders } from "./orders.ts";
import type { Request, Side } from "./orders.ts";
import { randomFrom } from "../random.ts";
import { inTurn } from "../several.ts";
import type { Several } from "../several.ts";
import type { IdOptions } from "../database/shuffled_ids.ts";
import { dumpTables } from "../database/tables.ts";

export type Answer = z.infer<typeof placeOrderResponseSchema>;
export type PlacedOrder = Answer["order"];
export type Fill = Answer["fills"][number];
export type ListedOrder = z.infer<typeof orderSchema>;
export type Cancelled = z.infer<typeof cancelOrderResponseSchema>;
export type Amended = z.infer<typeof amendOrderResponseSchema>;

/** The result of one request of a batch: the code of a rejection, or an answer. */
export interface Outcome {
  code: string | null;
  message: string | null;
  replayed: boolean;
  answer: Answer | null;
}

/** What a trader holds of one side, in cents. */
export interface Position {
  quantity: number;
  cost: number;
  fees: number;
  realised: number;
}

/**
 * An exchange of the test file's own. Markets and traders are named by their ids. Everything is
 * done by the functions that a server or an operator would call, as the role that may.
 */
export interface Exchange {
  readonly database: OwnDatabase;
  readonly clock: TestClock;
  /** Acts as exchange_api. */
  readonly api: Pool;
  /** Acts as exchange_worker. */
  readonly workers: Pool;
  /** The functions of api, each called once: what fails is not tried again, as a server would. */
  readonly calls: CallsOn<typeof apiFunctions>;
  /** The rows of a statement, as the login that owns everything. */
  query: (statement: string, values?: unknown[]) => Promise<any[]>;
  /** The rows of a statement, as exchange_operator. */
  look: (statement: string, values?: unknown[]) => Promise<any[]>;
  /** Calls an admin function with named arguments, as exchange_operator. */
  operate: (name: string, values?: Record<string, unknown>) => Promise<any>;
  /**
   * Calls a function of jobs with named arguments, as exchange_worker, until it does nothing. Where
   * it takes a market and none is given: for each market where something is due.
   */
  work: (name: string, values?: Record<string, unknown>) => Promise<number>;
  makeMarket: (options?: Record<string, unknown>) => Promise<string>;
  makeMarkets: <Count extends number>(count: Count) => Promise<Several<string, Count>>;
  /** A market, and so many traders. */
  makeMarketWith: <Count extends number>(
    count: Count,
    options?: TraderOptions,
  ) => Promise<[market: string, ...traders: Several<string, Count>]>;
  /** A market of an event that is live for good; the delay is 3 s by default. */
  makeLiveMarket: (options?: Record<string, unknown>) => Promise<LiveMarket>;
  /**
   * With 1,000 EUR and loss limits reviewed by default. Every second one or so has
   * limits that no test can reach; ids and handles don't ascend.
   */
  makeTrader: (options?: TraderOptions) => Promise<string>;
  makeTraders: <Count extends number>(
    count: Count,
    options?: TraderOptions,
  ) => Promise<Several<string, Count>>;
  /** Several requests at once. */
  placeBatch: (market: string, batch: [trader: string, Request][]) => Promise<Outcome[]>;
  /** One order that is accepted; throws when it isn't. */
  place: (market: string, trader: string, request: Request) => Promise<Answer>;
  /** The code with which a request is refused; throws when it is accepted. */
  refusal: (market: string, trader: string, request: Request) => Promise<string>;
  /** Orders that all come to rest without trading; returns their ids. */
  rest: <Requests extends Request[]>(
    market: string,
    trader: string,
    ...requests: Requests
  ) => Promise<{ [Place in keyof Requests]: string }>;
  /** Gives shares to a trader by trades at 50 with a new trader. */
  giveShares: (market: string, trader: string, side: Side, quantity: number) => Promise<void>;
  cancel: (trader: string, order: string) => Promise<CancelOutcome>;
  amend: (trader: string, order: string, amendment: Amendment) => Promise<AmendOutcome>;
  /** Releases what is due in a market; how many orders that were. */
  release: (market: string) => Promise<number>;
  /** Complete sets out of cash. */
  split: (market: string, trader: string, quantity: number) => Promise<ConvertOutcome>;
  /** Complete sets into cash. */
  merge: (market: string, trader: string, quantity: number) => Promise<ConvertOutcome>;
  /** NO shares of markets of an exclusive event into YES shares of the others and cash. */
  convert: (
    event: string,
    trader: string,
    markets: string[],
    quantity: number,
  ) => Promise<ExchangedShares>;
  /** YES shares of all markets of an exclusive event into cash. */
  redeem: (event: string, trader: string, quantity: number) => Promise<ExchangedShares>;
  order: (trader: string, order: string) => Promise<ListedOrder>;
  orders: (
    trader: string,
    options?: { market?: string; status?: string },
  ) => Promise<z.infer<typeof listOrdersResponseSchema>>;
  /** The body of GET /markets/:id, with the version. */
  market: (market: string) => Promise<any>;
  /** As it is; unlike a read of the book, this cancels nothing that has expired. */
  version: (market: string) => Promise<number>;
  /** The order book in YES prices, a level as "quantity @ price". */
  book: (market: string) => Promise<{ bids: string[]; asks: string[] }>;
  /** The body of GET /markets/:id/trades. */
  trades: (market: string, page: number, pageSize: number) => Promise<any>;
  balance: (trader: string) => Promise<number>;
  position: (market: string, trader: string, side: Side) => Promise<Position>;
  /** Cents in the two accounts of a market. */
  accounts: (market: string) => Promise<{ escrow: number; revenue: number }>;
  verify: () => Promise<{ name: string }[]>;
  /** Every row of every table, to see that nothing changed. */
  dump: () => Promise<Record<string, string>>;
  listen: () => Promise<Listener>;
  withRollback: <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;
}

export interface TraderOptions {
  cents?: number;
  reviewed?: boolean;
  /** Loss limits of the day, week and month. */
  limits?: [day: number | null, week: number | null, month: number | null];
}

export interface LiveMarket {
  market: string;
  event: string;
}

export interface Amendment {
  price?: number;
  quantity?: number;
}

export interface AmendOutcome {
  code: string | null;
  message: string | null;
  answer: Amended | null;
}

export interface ConvertOutcome {
  code: string | null;
  message: string | null;
  answer: z.infer<typeof convertSetsResponseSchema> | null;
}

export interface ExchangedShares {
  code: string | null;
  message: string | null;
  answer: z.infer<typeof exchangeSharesResponseSchema> | null;
}

export interface CancelOutcome {
  code: string | null;
  message: string | null;
  answer: Cancelled | null;
}

/** The database of an exchange, and the pools of its roles. */
interface Connection {
  readonly database: OwnDatabase;
  readonly api: Pool;
  readonly operators: Pool;
  readonly workers: Pool;
}

interface SessionOptions {
  /**
   * Of each role, at most; one unless given. A session costs the compilation of what it calls. Calls
   * at the same moment need as many, and so do calls beside a session that is held.
   */
  sessions?: number;
}

export interface ExchangeOptions extends IdOptions, SessionOptions {
  /** Invariants that the file breaks, since it writes tables itself instead of calling functions. */
  breaks?: string[];
}

/**
 * Makes an exchange for the test file, to be called once at its top. When all its tests have
 * passed, the file passes only if {@link verifyRows} finds nothing wrong in what they left.
 */
export function testExchange(test: TestFn, options: ExchangeOptions = {}): Exchange {
  let connection: Connection | undefined;
  const exchange = exchangeOn(() => connection!);
  // Serial: it is made before the hooks of the test file run.
  test.serial.before("make the exchange", async () => {
    connection = await connect(options);
    await prepare(exchange);
  });
  test.after("no invariant is broken", async (t) => {
    const found = await exchange.verify();
    t.deepEqual(
      found.filter(({ name }) => !options.breaks?.includes(name)),
      [],
    );
  });
  test.after.always("drop the exchange", async () => {
    await connection?.database.drop();
  });
  return exchange;
}

/** Makes an exchange that the caller drops, by `database.drop()`. */
export async function createExchange(options: IdOptions & SessionOptions = {}): Promise<Exchange> {
  const connection = await connect(options);
  const exchange = exchangeOn(() => connection);
  await prepare(exchange);
  return exchange;
}

async function connect({
  idsAscend = false,
  sessions = 1,
}: IdOptions & SessionOptions): Promise<Connection> {
  const database = await createDatabase({ shuffled: !idsAscend });
  return {
    database,
    api: database.connectAs("exchange_api", { max: sessions }),
    operators: database.connectAs("exchange_operator", { max: sessions }),
    workers: database.connectAs("exchange_worker", { max: sessions }),
  };
}

/** The category of all markets of the tests. */
async function prepare({ operate }: Exchange): Promise<void> {
  await operate("create_category", { slug: "tests", name: "Tests" });
}

/** The functions of an exchange, which look up the connection when they are called. */
function exchangeOn(connection: () => Connection): Exchange {
  const api = () => connection().api;
  const pool = () => connection().database.pool;
  const clock = () => testClock(pool());
  const operators = () => connection().operators;
  const operate = callerOf(operators, "admin");
  const work = workerOf(() => connection().workers);
  const calls = callsOnce(api);
  const making = makersOf(operate);
  return {
    get database() {
      return connection().database;
    },
    get api() {
      return api();
    },
    get workers() {
      return connection().workers;
    },
    clock: {
      freeze: (at) => clock().freeze(at),
      advance: (ms) => clock().advance(ms),
      release: () => clock().release(),
    },
    calls,
    query: queryOn(pool),
    look: queryOn(operators),
    operate,
    work,
    ...making,
    ...tradingOf(api, making),
    ...changersOf(calls, pool, work),
    ...readersOf(calls, pool),
    listen: () => listenTo(api()),
    verify: () => withClient(pool(), verifyRows),
    withRollback: (work) => withRollback(pool(), work),
  };
}

const queryOn =
  (pool: () => Pool): Exchange["query"] =>
  async (statement, values) =>
    (await pool().query(statement, values)).rows;

function callerOf(pool: () => Pool, schema: "admin" | "jobs"): Exchange["operate"] {
  return async (name, values = {}) => {
    const named = Object.keys(values).map((key, index) => `"${key}" => $${index + 1}`);
    const { rows } = await pool().query(
      `select ${schema}.${name}(${named.join(", ")}) as value`,
      Object.values(values),
    );
    return rows[0]?.value;
  };
}

/** Where the markets come from that a function of jobs is called for. */
const dueMarkets: Record<string, string> = {
  expire_orders: "due_expiries",
  close_markets: "due_closings",
  open_markets: "due_openings",
};

function workerOf(pool: () => Pool): Exchange["work"] {
  const call = callerOf(pool, "jobs");
  const piece = async (name: string, values: Record<string, unknown> = {}): Promise<number> => {
    const due = dueMarkets[name];
    if (due === undefined || "market_id" in values) return await call(name, values);
    const { rows } = await pool().query(`select m as id from jobs.${due}() as m`);
    let count = 0;
    for (const { id } of rows) count += Number(await call(name, { market_id: id, ...values }));
    return count;
  };
  return async (name, values) => {
    for (let count = 0; ;) {
      const done = await piece(name, values);
      if (done === 0) return count;
      count += done;
    }
  };
}

/** An order that was read alone, as lists show it. */
function listedOrder(body: unknown): ListedOrder {
  const whole = orderDetailSchema.parse(body);
  return z.object(orderSchema.shape).parse(whole);
}

let made = 0;

/** No limits, or limits that are too high to be reached and differ from everybody else's. */
export function anyLimits(number: number): NonNullable<TraderOptions["limits"]> {
  const { anyOf, chance } = randomFrom(`limits of trader ${number}`);
  if (chance(0.5)) return [null, null, null];
  const cents = 1_000_000_000_000 + number;
  return anyOf([
    [cents, null, null],
    [null, cents, null],
    [null, null, cents],
    [cents, cents + 1, cents + 2],
  ]);
}

/** Names in another order than that of their numbers. */
export function traderName(number: number) {
  const start = randomFrom(`name of trader ${number}`).between(100, 999);
  return {
    email: `trader-${start}-${number}@test.example`,
    display_name: `Trader ${start}-${number}`,
    handle: `trader-${start}-${number}`,
  };
}

function makersOf(operate: Exchange["operate"]) {
  const makeMarket: Exchange["makeMarket"] = (options = {}) =>
    operate("create_market", { title: "Will it rain?", category: "tests", ...options });

  const makeTrader: Exchange["makeTrader"] = async (options = {}) => {
    const number = ++made;
    const { cents = 100_000, reviewed = true, limits = anyLimits(number) } = options;
    const user_id = await operate("create_user", traderName(number));
    if (cents > 0) await operate("deposit", { user_id, amount_cents: cents, reference: "start" });
    if (reviewed) {
      const [day_cents, week_cents, month_cents] = limits;
      await operate("set_loss_limits", { user_id, day_cents, week_cents, month_cents });
    }
    return user_id;
  };

  const makeLiveMarket: Exchange["makeLiveMarket"] = async (options = {}) => {
    const about = { title: "A match", category: "tests", live: true, ...options };
    const event: string = await operate("create_event", about);
    return { market: await makeMarket({ event_id: event }), event };
  };

  const makeTraders: Exchange["makeTraders"] = (count, options) =>
    inTurn(count, () => makeTrader(options));

  const makeMarketWith: Exchange["makeMarketWith"] = async (count, options) => [
    await makeMarket(),
    ...(await makeTraders(count, options)),
  ];

  return {
    makeMarket,
    makeMarketWith,
    makeLiveMarket,
    makeMarkets: <Count extends number>(count: Count) => inTurn(count, () => makeMarket()),
    makeTrader,
    makeTraders,
  };
}

function tradingOf(api: () => Pool, { makeTrader }: ReturnType<typeof makersOf>) {
  const placeBatch: Exchange["placeBatch"] = (market, batch) =>
    withClient(api(), async (client) => {
      const requests = batch.map(([userId, request]): OrderRequest => ({
        marketId: market,
        userId,
        ...request,
      }));
      const outcomes = await placeOrders(client, requests);
      return outcomes.map(({ code, message, replayed, body }) => ({
        code,
        message,
        replayed,
        answer: code === null ? placeOrderResponseSchema.parse(JSON.parse(body)) : null,
      }));
    });

  const attempt = async (market: string, trader: string, request: Request): Promise<Outcome> =>
    (await placeBatch(market, [[trader, request]]))[0]!;

  const place: Exchange["place"] = async (market, trader, request) => {
    const { code, message, answer } = await attempt(market, trader, request);
    if (answer === null) throw new Error(`refused: ${code ?? ""} ${message ?? ""}`);
    return answer;
  };

  const refusal: Exchange["refusal"] = async (market, trader, request) => {
    const { code, answer } = await attempt(market, trader, request);
    if (code === null) throw new Error(`accepted: ${JSON.stringify(answer)}`);
    return code;
  };

  const rest: Exchange["rest"] = async (market, trader, ...requests) => {
    const orders: string[] = [];
    for (const request of requests) {
      const { order } = await place(market, trader, request);
      if (order.status !== "open") throw new Error(`does not rest: ${JSON.stringify(order)}`);
      orders.push(order.id);
    }
    return orders as { [Place in keyof typeof requests]: string };
  };

  const giveShares: Exchange["giveShares"] = async (market, trader, side, quantity) => {
    const other = await makeTrader({ cents: 50 * quantity });
    await rest(market, other, { side: side === "yes" ? "no" : "yes", price: 50, quantity });
    const { order } = await place(market, trader, { side, price: 50, quantity });
    if (order.status !== "filled") throw new Error(`not filled: ${JSON.stringify(order)}`);
  };

  return { placeBatch, place, refusal, rest, giveShares };
}

function changersOf(
  { convertShares, runCommand }: Exchange["calls"],
  pool: () => Pool,
  work: Exchange["work"],
) {
  const cancel: Exchange["cancel"] = async (trader, order) => {
    const { code, message, body } = await runCommand({
      ...{ command: "cancel", userId: trader, orderId: order },
    });
    const answer = code === null ? cancelOrderResponseSchema.parse(JSON.parse(body)) : null;
    return { code, message, answer };
  };

  const amend: Exchange["amend"] = async (trader, order, { price, quantity }) => {
    const { code, message, body } = await runCommand({
      ...{ command: "amend", userId: trader, orderId: order, price, quantity },
    });
    const answer = code === null ? amendOrderResponseSchema.parse(JSON.parse(body)) : null;
    return { code, message, answer };
  };

  const release: Exchange["release"] = async (market) => {
    const { rows } = await pool().query("select id from catalog.markets where public_id = $1", [
      market,
    ]);
    return await work("release_orders", { market_id: rows[0].id });
  };

  const converter =
    (command: "split" | "merge"): Exchange["split"] =>
    async (market, trader, quantity) => {
      const { code, message, body } = await runCommand({
        ...{ command, userId: trader, marketId: market, quantity },
      });
      const answer = code === null ? convertSetsResponseSchema.parse(JSON.parse(body)) : null;
      return { code, message, answer };
    };

  const [split, merge] = [converter("split"), converter("merge")];
  const exchanged = async (userId: string, eventId: string, given: object) => {
    const { code, message, body } = await convertShares({
      ...{ userId, eventId, quantity: 0, marketIds: null, ...given },
    });
    const answer = code === null ? exchangeSharesResponseSchema.parse(JSON.parse(body)) : null;
    return { code, message, answer };
  };
  const convert: Exchange["convert"] = (event, trader, marketIds, quantity) =>
    exchanged(trader, event, { marketIds, quantity });
  const redeem: Exchange["redeem"] = (event, trader, quantity) =>
    exchanged(trader, event, { quantity });
  return { cancel, amend, release, split, merge, convert, redeem };
}

const versionOf = `
  select s.version
  from trading.market_state as s
  join catalog.markets as m on m.id = s.market_id
  where m.public_id = $1`;

function readersOf(calls: Exchange["calls"], pool: () => Pool) {
  const parsed = (body: string | null | undefined) => JSON.parse(body ?? "null");

  const market: Exchange["market"] = async (id) => {
    const { body, version } = (await calls.getMarket({ marketId: id }))!;
    return { ...JSON.parse(body), version };
  };

  const book: Exchange["book"] = async (id) => {
    const { bids, asks } = parsed((await calls.getOrderBook({ marketId: id }))?.body);
    const levels = (side: { price: number; quantity: number }[]) =>
      side.map(({ price, quantity }) => `${quantity} @ ${price}`);
    return { bids: levels(bids), asks: levels(asks) };
  };

  const trades: Exchange["trades"] = async (id, page, pageSize) =>
    parsed((await calls.listTrades({ marketId: id, page, pageSize }))?.body);

  const order: Exchange["order"] = async (trader, id) =>
    listedOrder(parsed(await calls.getOrder({ userId: trader, orderId: id })));

  const orders: Exchange["orders"] = async (trader, { market: id, status = "open" } = {}) =>
    listOrdersResponseSchema.parse(
      parsed(await calls.listOrders({ userId: trader, marketId: id, status })),
    );

  const balance: Exchange["balance"] = async (trader) =>
    parsed(await calls.getAccount({ userId: trader })).balance;

  const one = async (statement: string, values: unknown[]): Promise<any> =>
    (await pool().query(statement, values)).rows[0];

  // No function for callers shows these two yet.
  const position: Exchange["position"] = async (id, trader, side) =>
    (await one(
      `select p.quantity, p.cost_cents as cost, p.fee_cents as fees, p.realised_cents as realised
       from trading.positions as p
       join catalog.markets as m on m.id = p.market_id
       join identity.users as u on u.id = p.user_id
       where m.public_id = $1 and u.public_id = $2 and p.side = $3`,
      [id, trader, side],
    )) ?? { quantity: 0, cost: 0, fees: 0, realised: 0 };

  const accounts: Exchange["accounts"] = (id) =>
    one(
      `select s.escrow_cents::bigint as escrow, s.revenue_cents::bigint as revenue
       from trading.market_state as s
       join catalog.markets as m on m.id = s.market_id
       where m.public_id = $1`,
      [id],
    );

  return {
    market,
    version: async (id: string) => (await one(versionOf, [id])).version,
    book,
    trades,
    order,
    orders,
    balance,
    position,
    accounts,
    dump: () => withClient(pool(), dumpTables),
  };
}
