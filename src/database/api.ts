import type { ClientBase, CustomTypesConfig, PoolClient } from "pg";
import { databaseTypes } from "./types.ts";

/**
 * The calls of the database's `api` functions: one function each, one statement each, arguments
 * by name. Bodies are JSON text made by the database and passed on untouched.
 */

/** An order without its market; what is absent or null is left to the database. */
export interface OrderTerms {
  userId: string;
  side: "yes" | "no";
  price?: number | null | undefined;
  quantity?: number | null | undefined;
  budgetCents?: number | null | undefined;
  orderType?: "buy" | "sell" | null | undefined;
  timeInForce?: "gtc" | "ioc" | null | undefined;
  idempotencyKey?: string | null | undefined;
  expiresAt?: string | null | undefined;
  postOnly?: boolean | null | undefined;
}

/** What `api.place_orders` takes for one order. */
export interface OrderRequest extends OrderTerms {
  marketId: string;
}

/** What a command came to: `body` when it was accepted, `code` and `message` when refused. */
export interface Outcome {
  code: string | null;
  message: string | null;
  /** Carried out before: the body tells how that stands now. */
  replayed: boolean;
  body: string;
}

/** Who a key belongs to. */
export interface KeyCaller {
  userId: string;
  apiKeyId: string;
}

/** Whose browser a session is of. */
export interface SessionCaller {
  userId: string;
  sessionId: string;
}

/** Who calls, and by what. */
export type Caller = KeyCaller | SessionCaller;

/** Something about one market, as of one version of it. */
export interface MarketView {
  version: number;
  body: string;
}

const JSON_TYPE = 114;

const parserOf = databaseTypes.getTypeParser as (oid: number, format?: string) => unknown;

const jsonAsText: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: string): unknown =>
    oid === JSON_TYPE
      ? (text: string) => text
      : parserOf(oid, format)) as CustomTypesConfig["getTypeParser"],
};

/** A call that hangs longer than this is given up, and its connection with it. */
const CALL_TIMEOUT_MS = 30_000;

/** One call of a function, as a statement that each connection plans once. */
export async function call<Row extends object>(
  client: ClientBase,
  name: string,
  text: string,
  values: unknown[],
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<Row[]> {
  // Named: each connection plans it once.
  const query = { name, text, values, types: jsonAsText, query_timeout: timeoutMs };
  return (await client.query<Row>(query)).rows;
}

/** Whose key has this SHA-256. */
export async function authenticate(
  client: PoolClient,
  keyHash: Buffer,
): Promise<KeyCaller | undefined> {
  const [row] = await call<{ user_id: string; api_key_id: string }>(
    client,
    "authenticate",
    "select user_id, api_key_id from api.authenticate(key_hash => $1)",
    [keyHash],
  );
  return row && { userId: row.user_id, apiKeyId: row.api_key_id };
}

/** Notes that a key was used. */
export async function recordKeyUse(client: PoolClient, apiKeyId: string): Promise<void> {
  await call(client, "record_key_use", "select api.record_key_use(api_key_id => $1)", [apiKeyId]);
}

/** Whose browser has the session cookie with this SHA-256. */
export async function authenticateSession(
  client: PoolClient,
  cookieHash: Buffer,
): Promise<SessionCaller | undefined> {
  const [row] = await call<{ user_id: string; session_id: string }>(
    client,
    "authenticate_session",
    "select user_id, session_id from api.authenticate_session(cookie_hash => $1)",
    [cookieHash],
  );
  return row && { userId: row.user_id, sessionId: row.session_id };
}

/** Whose session the token with this SHA-256 was made for. */
export async function authenticateSessionToken(
  client: PoolClient,
  tokenHash: Buffer,
): Promise<SessionCaller | undefined> {
  const [row] = await call<{ user_id: string; session_id: string }>(
    client,
    "authenticate_session_token",
    "select user_id, session_id from api.authenticate_session_token(token_hash => $1)",
    [tokenHash],
  );
  return row && { userId: row.user_id, sessionId: row.session_id };
}

/** A new token of the session; null when the session is gone. */
export async function createSessionToken(
  client: PoolClient,
  sessionId: string,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "create_session_token",
      "select api.create_session_token(session_id => $1) as body",
      [sessionId],
    ),
  );
  return row.body;
}

/** Which of these API keys and sessions have ended. */
export async function listEndedCredentials(client: PoolClient, ids: string[]): Promise<string[]> {
  const rows = await call<{ id: string }>(
    client,
    "list_ended_credentials",
    "select id from api.list_ended_credentials(credential_ids => $1) as id",
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** How often the user may ask. */
export async function getRateLimits(client: PoolClient, userId: string): Promise<string> {
  const row = theOnly(
    await call<{ body: string }>(
      client,
      "get_rate_limits",
      "select api.get_rate_limits(user_id => $1) as body",
      [userId],
    ),
  );
  return row.body;
}

/** How the orders of a call are placed. */
export interface PlacingOptions {
  /** All are accepted or none is: then the first that was rejected has a code, the others nothing. */
  atomic?: boolean;
  /** Whether to wait for the locks of markets: if not, MARKET_BUSY is the code of some orders. */
  waits?: boolean;
}

/** Places orders of any markets: one result each, in the same order. */
export async function placeOrders(
  client: PoolClient,
  orders: OrderRequest[],
  { atomic = false, waits = true }: PlacingOptions = {},
): Promise<Outcome[]> {
  return await call<Outcome>(
    client,
    "place_orders",
    "select code, message, replayed, body " +
      "from api.place_orders(orders => $1, atomic => $2, waits => $3)",
    [JSON.stringify(orders), atomic, waits],
  );
}

/** What an order would do now, were it placed. */
export async function previewOrder(client: PoolClient, order: OrderRequest): Promise<Outcome> {
  return theOnly(
    await call<Outcome>(
      client,
      "preview_order",
      'select code, message, replayed, body from api.preview_order("order" => $1)',
      [JSON.stringify(order)],
    ),
  );
}

/** Has this connection compile and plan what its first order needs. */
export async function warmUp(client: PoolClient): Promise<void> {
  await call(client, "warm_up", "select api.warm_up()", []);
}

/** Gives one order of the user another price, another total quantity, or both. */
export async function amendOrder(
  client: PoolClient,
  userId: string,
  orderId: string,
  price: number | null | undefined,
  quantity: number | null | undefined,
): Promise<Outcome> {
  return theOnly(
    await call<Outcome>(
      client,
      "amend_order",
      "select code, message, replayed, body from api.amend_order(" +
        "user_id => $1, order_id => $2, price => $3, quantity => $4)",
      [userId, orderId, price, quantity],
    ),
  );
}

/** Cancels one order of the user. */
export async function cancelOrder(
  client: PoolClient,
  userId: string,
  orderId: string,
): Promise<Outcome> {
  return theOnly(
    await call<Outcome>(
      client,
      "cancel_order",
      "select code, message, replayed, body " +
        "from api.cancel_order(user_id => $1, order_id => $2)",
      [userId, orderId],
    ),
  );
}

/** Makes complete sets of YES and NO shares out of the user's cash. */
export async function splitPosition(
  client: PoolClient,
  userId: string,
  marketId: string,
  quantity: number,
): Promise<Outcome> {
  return theOnly(
    await call<Outcome>(
      client,
      "split_position",
      "select code, message, replayed, body " +
        "from api.split_position(user_id => $1, market_id => $2, quantity => $3)",
      [userId, marketId, quantity],
    ),
  );
}

/** Gives complete sets of YES and NO shares back for cash. */
export async function mergePosition(
  client: PoolClient,
  userId: string,
  marketId: string,
  quantity: number,
): Promise<Outcome> {
  return theOnly(
    await call<Outcome>(
      client,
      "merge_position",
      "select code, message, replayed, body " +
        "from api.merge_position(user_id => $1, market_id => $2, quantity => $3)",
      [userId, marketId, quantity],
    ),
  );
}

/** Moves the events of committed transactions to where servers read them; how many there were. */
export async function relayOutbox(client: PoolClient): Promise<number> {
  const row = theOnly(
    await call<{ count: number }>(client, "relay_outbox", "select api.relay_outbox() as count", []),
  );
  return row.count;
}

/** Something that servers pass on, or, without a kind, a place before which some may be missing. */
export interface SentEvent {
  id: number;
  kind: string | null;
  payload: string | null;
}

/** A read that takes longer than this is taken for a connection that was cut without a word. */
const READ_EVENTS_TIMEOUT_MS = 5000;

/** The events behind an id, oldest first, at most so many; without an id, where to begin. */
export async function readEvents(
  client: ClientBase,
  afterId: number | undefined,
  most: number,
): Promise<SentEvent[]> {
  return await call<SentEvent>(
    client,
    "read_events",
    "select id, kind, payload from api.read_events(after_id => $1, most => $2)",
    [afterId, most],
    READ_EVENTS_TIMEOUT_MS,
  );
}

/** The user's orders, newest first. */
export async function listOrders(
  client: PoolClient,
  userId: string,
  marketId: string | undefined,
  status: string,
): Promise<string> {
  const row = theOnly(
    await call<{ body: string }>(
      client,
      "list_orders",
      "select api.list_orders(user_id => $1, market_id => $2, status => $3) as body",
      [userId, marketId, status],
    ),
  );
  return row.body;
}

/** One order of the user. */
export async function getOrder(
  client: PoolClient,
  userId: string,
  orderId: string,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "get_order",
      "select api.get_order(user_id => $1, order_id => $2) as body",
      [userId, orderId],
    ),
  );
  return row.body;
}

/** The user's account. */
export async function getAccount(client: PoolClient, userId: string): Promise<string> {
  const row = theOnly(
    await call<{ body: string }>(
      client,
      "get_account",
      "select api.get_account(user_id => $1) as body",
      [userId],
    ),
  );
  return row.body;
}

/** One page of the user's orders, newest first. */
export async function listAccountOrders(
  client: PoolClient,
  userId: string,
  status: string,
  page: number,
  pageSize: number,
): Promise<string> {
  const row = theOnly(
    await call<{ body: string }>(
      client,
      "list_account_orders",
      "select api.list_account_orders(" +
        "user_id => $1, status => $2, page => $3, page_size => $4) as body",
      [userId, status, page, pageSize],
    ),
  );
  return row.body;
}

/** The user's cash, positions and open orders. */
export async function getPortfolio(client: PoolClient, userId: string): Promise<string> {
  const row = theOnly(
    await call<{ body: string }>(
      client,
      "get_portfolio",
      "select api.get_portfolio(user_id => $1) as body",
      [userId],
    ),
  );
  return row.body;
}

/** All categories, in display order. */
export async function listCategories(client: PoolClient): Promise<string> {
  const row = theOnly(
    await call<{ body: string }>(
      client,
      "list_categories",
      "select api.list_categories() as body",
      [],
    ),
  );
  return row.body;
}

/** One page of a category's events, newest first. */
export async function listEvents(
  client: PoolClient,
  category: string,
  page: number,
  pageSize: number,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "list_events",
      "select api.list_events(category => $1, page => $2, page_size => $3) as body",
      [category, page, pageSize],
    ),
  );
  return row.body;
}

/** One event with its markets. */
export async function getEvent(client: PoolClient, eventId: string): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "get_event",
      "select api.get_event(event_id => $1) as body",
      [eventId],
    ),
  );
  return row.body;
}

/** One page of a category's markets, newest first. */
export async function listCategoryMarkets(
  client: PoolClient,
  category: string,
  status: string,
  page: number,
  pageSize: number,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "list_category_markets",
      "select api.list_category_markets(" +
        "category => $1, status => $2, page => $3, page_size => $4) as body",
      [category, status, page, pageSize],
    ),
  );
  return row.body;
}

/** One market with its best prices. */
export async function getMarket(
  client: PoolClient,
  marketId: string,
): Promise<MarketView | undefined> {
  const [row] = await call<MarketView>(
    client,
    "get_market",
    "select version, body from api.get_market(market_id => $1)",
    [marketId],
  );
  return row;
}

/** The market's book, level by level. */
export async function getOrderBook(
  client: PoolClient,
  marketId: string,
): Promise<MarketView | undefined> {
  const [row] = await call<MarketView>(
    client,
    "get_order_book",
    "select version, body from api.get_order_book(market_id => $1)",
    [marketId],
  );
  return row;
}

/** One page of the market's trades, newest first. */
export async function listTrades(
  client: PoolClient,
  marketId: string,
  page: number,
  pageSize: number,
): Promise<MarketView | undefined> {
  const [row] = await call<MarketView>(
    client,
    "list_trades",
    "select version, body from api.list_trades(market_id => $1, page => $2, page_size => $3)",
    [marketId, page, pageSize],
  );
  return row;
}

/** What the database says of itself; what it doesn't know is null. */
export interface DatabaseMetrics {
  server_version: string;
  schema_version: string | null;
  trading_paused: boolean;
  trades: number;
  pending_announcements: number;
  release_lateness_seconds: number;
  expiry_lateness_seconds: number;
  waiting_jobs: number | null;
  oldest_job_lateness_seconds: number | null;
  verification_age_seconds: number | null;
  broken_invariants: number | null;
  notification_queue_usage: number;
  waiting_locks: number;
  longest_lock_wait_seconds: number;
  connections: number;
  max_connections: number;
  deadlocks: number;
  transaction_id_age: number;
}

/** Figures for monitoring. */
export async function getMetrics(client: PoolClient): Promise<DatabaseMetrics> {
  return theOnly(
    await call<DatabaseMetrics>(client, "get_metrics", "select * from api.get_metrics()", []),
  );
}

/** What the market stream shows of a market: a body without line breaks. */
export async function getMarketSnapshot(
  client: PoolClient,
  marketId: string,
): Promise<MarketView | undefined> {
  const [row] = await call<MarketView>(
    client,
    "get_market_snapshot",
    "select version, body from api.get_market_snapshot(market_id => $1)",
    [marketId],
  );
  return row;
}

/** The row of a function that always answers with one. */
export function theOnly<Row>(rows: Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new TypeError("A database function that always answers did not");
  return row;
}
