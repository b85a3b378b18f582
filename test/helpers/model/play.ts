import type { PoolClient } from "pg";
import { verifyRows } from "../database/invariants.ts";
import { testClock } from "../database/test_clock.ts";
import type { Exchange } from "../exchange/test_exchange.ts";
import { fingerprintOf } from "../../../src/api/idempotency.ts";
import { marketOf, sentBefore, sentOf, world } from "./programs.ts";
import type { Order, Sent, Step } from "./programs.ts";
import { expectSame } from "./laws.ts";

/** Carries out a program in a transaction that the caller ends. */

export interface Cast {
  traders: string[];
  markets: string[];
  /** The event of each market. */
  events: string[];
}

export interface Played {
  /** For every request, in order. */
  outcomes: PlayedOutcome[];
  /** All rows of the tables at the end, without internal ids except those of the cast. */
  state: Record<keyof typeof stateQueries, any[]>;
  /** The events of users, in order. */
  events: any[];
  /** The ids of all orders in the order of their making. */
  orderIds: string[];
  broken: unknown[];
}

export interface PlayedOutcome {
  code: string | null;
  message: string | null;
  replayed: boolean;
  body: any;
  /** What was asked for, if it was an order of a batch, and in which step. */
  request?: PlacedRequest & { step: number };
}

/** An element of what `api.place_orders` takes. */
export interface PlacedRequest {
  marketId: string;
  userId: string;
  side: "yes" | "no";
  orderType: "buy" | "sell";
  idempotencyKey: string | null;
  [term: string]: unknown;
}

/** A row of `api.place_orders`. */
export interface PlacedRow {
  code: string | null;
  message: string | null;
  replayed: boolean;
  body: string | null;
}

/** How the orders of a step are placed: one row for each of them, in their order. */
export type Placing = (client: PoolClient, requests: PlacedRequest[]) => Promise<PlacedRow[]>;

export const together: Placing = async (client, requests) =>
  (await client.query("select * from api.place_orders(orders => $1)", [JSON.stringify(requests)]))
    .rows;

export const oneByOne: Placing = async (client, requests) => {
  const rows: PlacedRow[] = [];
  for (const request of requests) rows.push(...(await together(client, [request])));
  return rows;
};

/** What the id of a market is that does not exist. */
const NO_MARKET = "00000000-0000-4000-8000-0000000000ff";

/** Does something and takes it back, in a transaction that goes on. */
export async function undone<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query("savepoint before_work");
  const found = await work();
  await client.query("rollback to savepoint before_work");
  await client.query("release savepoint before_work");
  return found;
}

/** Rows of `api.place_orders` as outcomes. */
export function outcomesOf(rows: PlacedRow[]): PlayedOutcome[] {
  return rows.map((row) => ({ ...row, body: JSON.parse(row.body!) }));
}

/** Throws unless two plays have the same results. */
export function expectSamePlay(found: Played, expected: Played, cast: Cast): void {
  expectSame("broken", found.broken, []);
  expectSame("broken where it is expected", expected.broken, []);
  const [one, other] = [withoutIds(found, cast), withoutIds(expected, cast)];
  expectSame("outcome", one.outcomes, other.outcomes);
  // A batch sends the events of its fills first; the events are the same.
  expectSame("event", sorted(one.events), sorted(other.events));
  for (const [table, rows] of Object.entries(expected.state)) {
    expectSame(table, found.state[table as keyof Played["state"]], rows);
  }
}

function sorted(events: unknown[]): string[] {
  return events.map((event) => JSON.stringify(event)).sort();
}

/** The traders and markets of `world`, with the clock stopped at its start. */
export async function makeCast(exchange: Exchange): Promise<Cast> {
  await exchange.clock.freeze(world.startsAt);
  const traders: string[] = [];
  for (const [index, cents] of world.cents.entries()) {
    const limit = world.limits[index];
    const limitOf = (window: string) => (limit?.window === window ? limit.cents : null);
    const limits = [limitOf("day"), limitOf("week"), limitOf("month")] as const;
    traders.push(await exchange.makeTrader({ cents, limits: [...limits] }));
  }
  const made = [];
  while (made.length < world.markets) made.push(await exchange.makeLiveMarket({ live: false }));
  return {
    traders,
    markets: made.map(({ market }) => market),
    events: made.map(({ event }) => event),
  };
}

/** Plays in the client's transaction. */
export async function play(
  client: PoolClient,
  cast: Cast,
  program: Step[],
  placing: Placing,
): Promise<Played> {
  const outcomes: PlayedOutcome[] = [];
  const sent: Sent<string>[] = [];
  const answers = new Map<string, string>();
  const place = async (step: Extract<Step, { kind: "batch" }>, number: number) => {
    const requests = await requestsOf(client, cast, step);
    const rows = await placing(client, requests);
    if (rows.length !== requests.length) throw new Error("A row for each order is missing");
    rows.forEach((row, index) => {
      const request = { ...requests[index]!, step: number };
      outcomes.push({ ...row, body: JSON.parse(row.body!), request });
    });
  };
  for (const [number, step] of program.entries()) {
    if (step.kind === "batch") {
      await place(step, number);
      sent.push(...sentOf(step));
    } else if (step.kind === "keyed") {
      const target = await targetOf(client, cast, step);
      if (target === undefined) continue;
      sent.push({ ...step, target });
      outcomes.push(await carryOutOnce(client, cast, { ...step, target }, answers));
    } else if (step.kind === "repeat") {
      const again = sentBefore(sent, step);
      if (again?.kind === "batch") await place(again, number);
      else if (again) outcomes.push(await carryOutOnce(client, cast, again, answers));
    } else if (step.kind === "amend") {
      outcomes.push(...(await amend(client, cast.traders[step.trader]!, step)));
    } else if (step.kind === "split" || step.kind === "merge") {
      const { rows } = await client.query(
        "select * from api.run_command($1, $2, market_id => $3, quantity => $4)",
        [step.kind, cast.traders[step.trader], cast.markets[step.market], step.quantity],
      );
      outcomes.push(...rows.map((row) => ({ ...row, body: JSON.parse(row.body) })));
    } else {
      await carryOut(client, cast, step);
    }
  }
  return readPlayed(client, outcomes);
}

/** What is to be seen once a program has come to these outcomes. */
export async function readPlayed(client: PoolClient, outcomes: PlayedOutcome[]): Promise<Played> {
  const { rows: orders } = await client.query("select public_id from trading.orders order by id");
  const { rows: told } = await client.query(
    "select payload from trading.outbox where channel = 'user_event' order by id",
  );
  return {
    outcomes,
    state: await readState(client),
    events: told.map((row) => row.payload),
    orderIds: orders.map((row) => row.public_id),
    broken: await verifyRows(client),
  };
}

let plays = 0;

/** Plays in a transaction that is rolled back. */
export async function playAndUndo(
  { database, withRollback }: Exchange,
  ...[cast, program, placing]: [Cast, Step[], Placing]
): Promise<Played> {
  // Rows that are rolled back stay in the files until a vacuum, and slow down every scan.
  if (++plays % 50 === 0) await database.pool.query("vacuum");
  return withRollback((client) => play(client, cast, program, placing));
}

/** Outcomes and events with every new id replaced by the order in which it first appears. */
export function withoutIds({ outcomes, events }: Played, cast: Cast) {
  const names = new Map([...cast.traders, ...cast.markets].map((id) => [id, id]));
  const renamed = (lines: unknown[]): unknown[] =>
    JSON.parse(
      JSON.stringify(lines).replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        const name = names.get(id) ?? `new ${names.size}`;
        names.set(id, name);
        return name;
      }),
    );
  return { outcomes: renamed(outcomes), events: renamed(events) };
}

/** The order that a command is about; null if it is about none, undefined if it is not there. */
async function targetOf(
  client: PoolClient,
  { traders }: Cast,
  { trader, command }: Extract<Step, { kind: "keyed" }>,
): Promise<string | null | undefined> {
  if (command.kind !== "amend" && command.kind !== "cancel") return null;
  if (command.kind === "amend" && command.price === null && command.quantity === null) {
    return undefined;
  }
  return openOrder(client, traders[trader]!, command.place);
}

/** A command with a key. A replay must be the first answer, letter by letter. */
async function carryOutOnce(
  client: PoolClient,
  cast: Cast,
  sent: Extract<Sent<string>, { kind: "keyed" }>,
  answers: Map<string, string>,
): Promise<PlayedOutcome> {
  const { trader, command, target } = sent;
  const fingerprint = fingerprintOf([command, target]);
  const row = await sendOnce(client, cast, sent, [keyId(sent.key), fingerprint]);
  const name = `${trader} ${sent.key} ${fingerprint}`;
  if (row.replayed) expectSame("answer to a repetition", [row.body], [answers.get(name)]);
  else if (row.code === null) answers.set(name, row.body!);
  return { ...row, body: JSON.parse(row.body!) };
}

async function sendOnce(
  client: PoolClient,
  cast: Cast,
  { trader, command, target }: Extract<Sent<string>, { kind: "keyed" }>,
  key: [key: string, fingerprint: string],
): Promise<PlacedRow> {
  const user = cast.traders[trader]!;
  const ofMarket = "market" in command && command.market !== null;
  const market = ofMarket ? cast.markets[command.market!]! : null;
  if (command.kind === "cancelAll") return cancelAllOf(client, user, market, key);
  if (command.kind === "placeBatch") {
    const orders = await requestsOf(client, cast, command);
    const { rows } = await client.query(
      `select code, message, replayed, body
       from api.run_orders(
         user_id => $1, orders => $2, atomic => false, idempotency_key => $3,
         request_fingerprint => $4
       )`,
      [user, JSON.stringify(orders), ...key],
    );
    return rows[0];
  }
  const price = command.kind === "amend" ? command.price : null;
  const quantity = "quantity" in command ? command.quantity : null;
  const { rows } = await client.query(
    `select code, message, replayed, body
     from api.run_command($1, $2, $3, $4, $5, $6, $7, $8)`,
    [command.kind, user, target, market, price, quantity, ...key],
  );
  return rows[0];
}

const keyId = (key: number) => `00000000-0000-4000-8000-00000000000${key}`;

async function requestsOf(
  client: PoolClient,
  cast: Cast,
  step: { market: number; orders: Order[] },
): Promise<PlacedRequest[]> {
  const { rows } = await client.query("select core.now() as now");
  const now: number = rows[0].now.getTime();
  return step.orders.map((order) => {
    const { trader, expiresIn, key, cancelsOwn, isStrict, ...terms } = order;
    const market = marketOf(step, order);
    return {
      ...terms,
      ...(isStrict && key !== null && { requestFingerprint: fingerprintOf([market, order]) }),
      ...(cancelsOwn && { selfTrade: "cancel_resting" }),
      market: undefined,
      marketId: market === null ? NO_MARKET : cast.markets[market]!,
      userId: cast.traders[trader]!,
      expiresAt: expiresIn === null ? null : new Date(now + expiresIn).toISOString(),
      idempotencyKey: key === null ? null : keyId(key),
    };
  });
}

async function carryOut(
  client: PoolClient,
  { traders, markets, events }: Cast,
  step: Exclude<Step, { kind: "batch" | "keyed" | "repeat" | "amend" | "split" | "merge" }>,
): Promise<void> {
  switch (step.kind) {
    case "advance":
      await testClock(client).advance(step.ms);
      break;
    case "deposit":
      await client.query("select admin.deposit($1, $2, gen_random_uuid()::text)", [
        traders[step.trader],
        step.cents,
      ]);
      break;
    case "withdraw":
      await client.query(
        `select admin.withdraw(t.public_id, t.balance_cents - $2, gen_random_uuid()::text)
         from trading.traders as t
         where t.public_id = $1 and t.balance_cents > $2 and t.frozen_at is null`,
        [traders[step.trader], step.leave],
      );
      break;
    case "limit":
      await client.query("select admin.set_loss_limits($1, $2, $3, $4, immediate => true)", [
        traders[step.trader],
        ...["day", "week", "month"].map((window) => (window === step.window ? step.cents : null)),
      ]);
      break;
    case "exclude":
      await exclude(client, traders[step.trader]!, step.byHand);
      break;
    case "freeze":
      await client.query(
        step.frozen
          ? "select admin.freeze_user($1, 'a test', cancel_orders => $2)"
          : "select admin.unfreeze_user($1, 'a test')",
        step.frozen ? [traders[step.trader], step.cancels] : [traders[step.trader]],
      );
      break;
    case "cancelOrders":
      await client.query("select admin.cancel_orders($1, $2)", [
        traders[step.trader],
        step.market === null ? null : markets[step.market],
      ]);
      break;
    case "cancelAll":
      await cancelAll(client, traders[step.trader]!, step, markets[step.market ?? -1]);
      break;
    case "cancel":
      await cancel(client, traders[step.trader]!, step.place);
      break;
    case "pauseSite":
      await client.query("select admin.set_trading_pause($1)", [step.paused]);
      break;
    case "setLive":
      await client.query("select admin.set_event_live($1, $2, $3)", [
        events[step.market],
        step.delayMs !== null,
        step.delayMs,
      ]);
      break;
    case "release":
      await testClock(client).advance(step.ms);
      await client.query(
        `select jobs.release_group(array(
           select m.id from catalog.markets as m where m.public_id = any ($1::uuid[]) order by m.id
         ))`,
        [markets],
      );
      break;
    case "sweepExpired":
      while (
        (
          await client.query(
            "select sum(jobs.expire_orders(m)) as count from jobs.due_expiries() as m",
          )
        ).rows[0].count > 0
      );
      break;
    case "setMarket":
      await client.query(
        `select admin.set_market_status(m.public_id, $2) from catalog.markets as m
         where m.public_id = $1 and m.status <> 'resolved'
           and (m.status::text, $2) <> ('closed', 'paused')`,
        [markets[step.market], step.status],
      );
      break;
    case "resolve":
      await resolve(client, markets[step.market]!, step.yesCents);
      break;
  }
}

async function cancelAll(
  client: PoolClient,
  trader: string,
  { isGone }: Extract<Step, { kind: "cancelAll" }>,
  market?: string,
): Promise<void> {
  if (isGone) {
    await client.query("select api.set_dead_man($1, 1000)", [trader]);
    await testClock(client).advance(1000);
    for (;;) {
      const { rows } = await client.query(
        `select (jobs.cancel_dead_man_orders(
           array_agg(distinct d.market_id), array_agg(o.id)
         )).cancelled
         from jobs.due_dead_man_orders() as d
         cross join unnest(d.order_ids) as o (id)
         having count(*) > 0`,
      );
      if (rows.length === 0) return;
    }
  }
  await cancelAllOf(client, trader, market ?? null);
}

/** All calls of a cancel. */
async function cancelAllOf(
  client: PoolClient,
  trader: string,
  market: string | null,
  once: [key: string, fingerprint: string] | [] = [],
): Promise<PlacedRow> {
  let [until, before]: [unknown, number] = [null, 0];
  for (;;) {
    const { rows } = await client.query(
      `select code, message, replayed, body, last_order_id, cancelled
       from api.cancel_all_orders($1, $2, $3, $4, $5, $6)`,
      [trader, market, once[0] ?? null, once[1] ?? null, until, before],
    );
    const { last_order_id, cancelled, ...row } = rows[0];
    if (row.code !== null || row.body !== null) return row;
    [until, before] = [last_order_id, cancelled];
  }
}

async function resolve(client: PoolClient, market: string, yesCents: number): Promise<void> {
  const { rows } = await client.query(
    "select yes_payout_cents as paid from catalog.markets where public_id = $1",
    [market],
  );
  const { paid } = rows[0];
  if (paid === yesCents) return;
  const outcome = new Map([
    [100, "yes"],
    [0, "no"],
  ]).get(yesCents);
  const payout = outcome === undefined ? yesCents : null;
  await client.query(
    paid === null
      ? "select admin.resolve_market($1, $2, $3)"
      : "select admin.correct_resolution($1, $2, 'a mistake', $3)",
    [market, outcome ?? "custom", payout],
  );
}

/** The trader's open order of that place, resting ones and scheduled ones in one row. */
async function openOrder(
  client: PoolClient,
  trader: string,
  place: number,
): Promise<string | undefined> {
  const { rows } = await client.query(
    `select o.public_id as id
     from identity.users as u join trading.orders as o on o.user_id = u.id
     where u.public_id = $1 and o.status in ('scheduled', 'open', 'partially_filled')
     order by o.id offset $2 limit 1`,
    [trader, place],
  );
  return rows[0]?.id;
}

async function cancel(client: PoolClient, trader: string, place: number): Promise<void> {
  const id = await openOrder(client, trader, place);
  if (id !== undefined)
    await client.query("select api.run_command('cancel', $1, $2)", [trader, id]);
}

async function amend(
  client: PoolClient,
  trader: string,
  { place, price, quantity }: Extract<Step, { kind: "amend" }>,
): Promise<PlayedOutcome[]> {
  const id = await openOrder(client, trader, place);
  if (id === undefined || (price === null && quantity === null)) return [];
  const { rows } = await client.query(
    "select * from api.run_command('amend', $1, $2, price => $3, quantity => $4)",
    [trader, id, price, quantity],
  );
  return rows.map((row) => ({ ...row, body: JSON.parse(row.body) }));
}

async function exclude(client: PoolClient, trader: string, byHand: boolean): Promise<void> {
  const until = "core.now() + interval '1 hour'";
  await client.query(
    byHand
      ? `update trading.traders set excluded_until = ${until}
         where public_id = $1
           and (excluded_until is null or excluded_until <= core.now())`
      : `select admin.self_exclude(t.public_id, ${until})
         from trading.traders as t
         where t.public_id = $1 and (t.excluded_until is null or t.excluded_until <= core.now())`,
    [trader],
  );
}

const stateQueries = {
  orders: `
    select market_id, user_id, side, order_type, price, quantity, filled_quantity, budget_cents,
      time_in_force, post_only, status, cancel_reason, fee_cents, created_at, expires_at,
      cancelled_at, release_at, released_at
    from trading.orders order by id`,
  book: `
    select n.number, b.market_id, b.user_id, b.book_side, b.book_price, b.order_type,
      b.left_quantity, b.expires_at, b.release_at, b.queue_position is null as is_scheduled
    from trading.active_orders as b join numbered as n on n.id = b.order_id
    order by b.market_id, b.book_side, b.book_price, b.queue_position, b.order_id`,
  levels: `
    select market_id, book_side, book_price, quantity from trading.book_levels
    where quantity > 0 order by market_id, book_side, book_price`,
  // Where a search begins is no state: only it must never run ahead, which ledger.verify() sees.
  books: `
    select market_id, version, last_trade_price, yes_volume_cents, no_volume_cents, trade_count,
      traders_count, escrow_cents, escrow_version, revenue_cents, revenue_version,
      best_yes_price, best_no_price
    from trading.market_state order by market_id`,
  trades: `
    select taker.number as taker, maker.number as maker, t.market_id, t.taker_user_id,
      t.maker_user_id, t.taker_side, t.price, t.quantity, t.fee_cents, t.fee_schedule_id,
      t.taker_realised_cents, t.maker_realised_cents, t.created_at,
      t.taker_cents, t.taker_balance_cents, t.taker_version,
      t.maker_cents, t.maker_balance_cents, t.maker_version,
      t.escrow_balance_cents, t.escrow_version, t.revenue_balance_cents, t.revenue_version
    from trading.trades as t
    join numbered as taker on taker.id = t.taker_order_id
    join numbered as maker on maker.id = t.maker_order_id
    order by t.id`,
  positions: `
    select market_id, user_id, side, quantity, cost_cents, fee_cents, realised_cents, has_traded
    from trading.positions order by market_id, user_id, side`,
  accounts: "select * from ledger.accounts order by id",
  entries: `
    select account_id, account_version, amount_cents, balance_before_cents, balance_after_cents,
      dense_rank() over (order by journal_id) as journal
    from ledger.entries order by account_id, account_version`,
  journals: "select kind, market_id, created_at from ledger.journals order by id",
  dayOpenings: "select * from ledger.day_openings order by user_id, day",
  keys: `
    select k.user_id, k.key, n.number, k.created_at, k.reply is not null as has_reply
    from trading.idempotency_keys as k left join numbered as n on n.id = k.order_id
    order by k.user_id, k.key`,
};

async function readState(client: PoolClient): Promise<Played["state"]> {
  const state: Partial<Played["state"]> = {};
  for (const [name, query] of Object.entries(stateQueries)) {
    const { rows } = await client.query({
      name,
      text: `with numbered as (
         select o.id, row_number() over (order by o.id) as number from trading.orders as o
       )
       ${query}`,
    });
    state[name as keyof typeof stateQueries] = rows;
  }
  return state as Played["state"];
}
