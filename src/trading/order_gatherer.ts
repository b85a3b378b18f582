import type { Pool } from "pg";
import { placeOrders } from "../database/api.ts";
import type { OrderRequest, Outcome } from "../database/api.ts";
import { DatabaseFailure, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { chooseOrders, wasSlow, workOf } from "./choose_orders.ts";
import { isUnfinished, UNFINISHED_FOR_MS } from "./unfinished.ts";

export interface OrderGathererOptions {
  pool: Pool;
  /** Expected work of one call at most, in small orders; see choose_orders.ts. */
  mostWork?: number;
  /** Calls under way at most; as many as the pool has connections unless given. */
  callCap?: number;
  /** Orders at most that may wait, over all markets; beyond it new ones are rejected. */
  waitingCap?: number;
  retries?: RetryOptions;
  /** How long an order is placed again that is not finished; see unfinished.ts. */
  unfinishedForMs?: number;
  /** A call that takes longer for little work makes its markets slow; see choose_orders.ts. */
  slowMs?: number;
  /** How long a market shares no call after it was slow or its lock was held elsewhere. */
  aloneForMs?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  /** Called after each committed call, with the results that it gave. */
  onCommitted?: (outcomes: Outcome[]) => void;
}

/** Places orders; those that wait at the same time share a call of the database. */
export interface OrderGatherer {
  /** Settles when the order is placed, rejected (a value) or could not be placed (an error). */
  place: (order: OrderRequest) => Promise<Outcome>;
  /** Places all of these orders or none: see `atomic` of api.place_orders. */
  placeTogether: (orders: OrderRequest[]) => Promise<Outcome[]>;
  /** Settles once no order is waiting or under way. */
  drained: () => Promise<void>;
}

interface Waiting {
  request: OrderRequest;
  /** When it came. */
  since: number;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** Orders that are placed together or not at all. */
interface Together {
  orders: OrderRequest[];
  since: number;
  resolve: (outcomes: Outcome[]) => void;
  reject: (error: unknown) => void;
}

/** One market's queue. There is one while orders wait, a call is under way, or it goes alone. */
interface Lane {
  waiting: Waiting[];
  isUnderWay: boolean;
  /** Until then it shares no call. */
  aloneUntil: number;
  /** It goes alone because of a call that it shared: its first quick call ends that. */
  isSuspect: boolean;
  /** Its last call took long for its work: the next one takes little. */
  isSlow: boolean;
}

const DEFAULT_MOST_WORK = 200;
const DEFAULT_WAITING_CAP = 10_000;
const DEFAULT_CALL_CAP = 8;
const DEFAULT_ALONE_FOR_MS = 1000;

/**
 * A transaction costs much more than an order in it, so one call takes what waits in all markets
 * that have no call under way. A market has one call under way at most, since a second one would
 * only wait for its lock. An order that comes when a connection is free waits for nothing.
 *
 * Shared calls do not wait for a market's lock. A market whose lock is held elsewhere (MARKET_BUSY),
 * whose call was slow, or whose shared call failed goes alone for a while, in calls that do wait.
 * These have at most half of the connections, so that the other markets always find one.
 */
export function createOrderGatherer(options: OrderGathererOptions): OrderGatherer {
  const { pool, retries, slowMs } = options;
  const {
    mostWork = DEFAULT_MOST_WORK,
    waitingCap = DEFAULT_WAITING_CAP,
    unfinishedForMs = UNFINISHED_FOR_MS,
    aloneForMs = DEFAULT_ALONE_FOR_MS,
    now = () => performance.now(),
    onCommitted = () => undefined,
  } = options;
  const callCap = options.callCap ?? maxOf(pool) ?? DEFAULT_CALL_CAP;
  const aloneCap = Math.max(1, Math.floor(callCap / 2));

  const lanes = new Map<string, Lane>();
  /** Lanes with waiting orders and no call under way, the longest ready first. */
  const toGather = new Set<Lane>();
  const toGoAlone = new Set<Lane>();
  const together: Together[] = [];
  const running = new Set<Promise<void>>();
  let waitingCount = 0;
  let aloneCalls = 0;
  let isTurnOfAlone = false;
  /** A shared call waits for its connection; it will take what is ready by then. */
  let isConnecting = false;
  let isScheduled = false;
  let sweptAt = now();

  function place(request: OrderRequest): Promise<Outcome> {
    if (waitingCount >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      const lane = laneOf(request.marketId);
      lane.waiting.push({ request, since: now(), resolve, reject });
      waitingCount++;
      makeReady(lane);
      schedule();
    });
  }

  function placeTogether(orders: OrderRequest[]): Promise<Outcome[]> {
    if (waitingCount >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      together.push({ orders, since: now(), resolve, reject });
      waitingCount += orders.length;
      schedule();
    });
  }

  async function drained(): Promise<void> {
    while (running.size > 0 || waitingCount > 0) {
      await Promise.all(running);
      await new Promise(setImmediate);
    }
  }

  function laneOf(marketId: string): Lane {
    let lane = lanes.get(marketId);
    if (lane === undefined) {
      lane = { waiting: [], isUnderWay: false, aloneUntil: 0, isSuspect: false, isSlow: false };
      lanes.set(marketId, lane);
    }
    return lane;
  }

  function makeReady(lane: Lane): void {
    if (lane.isUnderWay || lane.waiting.length === 0) return;
    if (toGather.has(lane) || toGoAlone.has(lane)) return;
    (now() < lane.aloneUntil ? toGoAlone : toGather).add(lane);
  }

  /** After all requests that this turn of the event loop brings: they go together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      startCalls();
    });
  }

  function startCalls(): void {
    sweepLanes();
    while (running.size < callCap) {
      const canGather = toGather.size > 0 && !isConnecting;
      const canGoAlone = (toGoAlone.size > 0 || together.length > 0) && aloneCalls < aloneCap;
      if (!canGather && !canGoAlone) return;
      const goesAlone = canGoAlone && (isTurnOfAlone || !canGather);
      isTurnOfAlone = !goesAlone;
      if (!goesAlone) run(placeGathered());
      else {
        aloneCalls++;
        run(nextAlone().finally(() => aloneCalls--));
      }
    }
  }

  function run(call: Promise<void>): void {
    const ended = call.finally(() => {
      running.delete(ended);
      schedule();
    });
    running.add(ended);
  }

  /** Forgets the lanes of markets that have nothing to do and may share calls again. */
  function sweepLanes(): void {
    if (now() - sweptAt < aloneForMs) return;
    sweptAt = now();
    for (const [marketId, lane] of lanes) {
      if (isIdle(lane) && lane.aloneUntil <= sweptAt) lanes.delete(marketId);
    }
  }

  function isIdle({ waiting, isUnderWay }: Lane): boolean {
    return waiting.length === 0 && !isUnderWay;
  }

  /** One call for what waits in all markets that are ready. */
  async function placeGathered(): Promise<void> {
    isConnecting = true;
    let taken: Waiting[] | undefined;
    let tookMs = 0;
    try {
      const outcomes = await withRetries(
        pool,
        async (client) => {
          // Only now that there is a connection: more may have come while waiting for it.
          taken ??= takeGathered();
          if (taken.length === 0) return [];
          const began = now();
          const given = await placeOrders(client, requestsOf(taken), { waits: false });
          tookMs = now() - began;
          return given;
        },
        { ...retries, exceptConflicts: true },
      );
      if (taken !== undefined) answerGathered(taken, outcomes, tookMs);
    } catch (error) {
      // No connection was to be had: those who came later need not wait for the same news.
      if (taken === undefined) rejectReady(toGather, error);
      else failGathered(taken, error);
    } finally {
      if (taken === undefined) isConnecting = false;
      else endCall(lanesOf(taken));
    }
  }

  function takeGathered(): Waiting[] {
    const ready = [...toGather];
    const taken = chooseOrders(
      ready.map(({ waiting }) => waiting),
      { mostWork },
    );
    waitingCount -= taken.length;
    for (const lane of lanesOf(taken)) {
      toGather.delete(lane);
      lane.isUnderWay = true;
    }
    isConnecting = false;
    schedule();
    return taken;
  }

  function answerGathered(taken: Waiting[], outcomes: Outcome[], tookMs: number): void {
    const isSlow = wasSlow(tookMs, sumOfWork(taken), slowMs);
    const shared = lanesOf(taken);
    if (isSlow) for (const lane of shared) goAlone(lane, shared.size === 1 ? "slow" : "suspect");
    answer(taken, outcomes);
  }

  /** Nothing has happened, or nobody knows. In the first case each market is tried by itself. */
  function failGathered(taken: Waiting[], error: unknown): void {
    const isConflict = error instanceof DatabaseFailure && error.kind === "conflict";
    const isOurs = !(error instanceof DatabaseFailure) && taken.length > 1;
    if (!isConflict && !isOurs) {
      rejectAll(taken, error);
      return;
    }
    for (const lane of lanesOf(taken)) goAlone(lane, "suspect");
    putBack(taken);
  }

  /** One call for orders that are placed together, or for one market. */
  async function nextAlone(): Promise<void> {
    const first = together.shift();
    if (first !== undefined) {
      waitingCount -= first.orders.length;
      await placeAllOrNone(first);
      return;
    }
    const [lane] = toGoAlone;
    if (lane === undefined) return;
    toGoAlone.delete(lane);
    lane.isUnderWay = true;
    await placeAlone(lane);
    endCall([lane]);
  }

  async function placeAllOrNone({ orders, since, resolve, reject }: Together): Promise<void> {
    try {
      for (;;) {
        const outcomes = await withRetries(
          pool,
          (client) => placeOrders(client, orders, { atomic: true }),
          retries,
        );
        if (outcomes.length !== orders.length) throw wrongCount(orders, outcomes);
        if (outcomes.some((outcome) => isUnfinished(outcome, since, unfinishedForMs, now()))) {
          continue;
        }
        resolve(outcomes);
        if (outcomes.every(({ code, body }) => code === null && body !== null)) {
          onCommitted(outcomes);
        }
        return;
      }
    } catch (error) {
      reject(error);
    }
  }

  async function placeAlone(lane: Lane): Promise<void> {
    let taken: Waiting[] | undefined;
    let tookMs = 0;
    try {
      const outcomes = await withRetries(
        pool,
        async (client) => {
          taken ??= takeAlone(lane);
          const began = now();
          const given = await placeOrders(client, requestsOf(taken));
          tookMs = now() - began;
          return given;
        },
        retries,
      );
      if (taken === undefined) return;
      if (wasSlow(tookMs, sumOfWork(taken), slowMs)) goAlone(lane, "slow");
      else {
        lane.isSlow = false;
        if (lane.isSuspect) lane.aloneUntil = 0;
      }
      answer(taken, outcomes);
    } catch (error) {
      if (taken === undefined) rejectAll(takeAll(lane), error);
      else if (error instanceof DatabaseFailure) {
        if (error.kind === "conflict") failSlow(lane, error);
        rejectAll(taken, error);
      } else if (taken.length === 1) rejectAll(taken, error);
      else await placeOneByOne(taken);
    }
  }

  function takeAlone(lane: Lane): Waiting[] {
    const taken = chooseOrders([lane.waiting], { mostWork, isSlow: lane.isSlow });
    waitingCount -= taken.length;
    return taken;
  }

  function takeAll(lane: Lane): Waiting[] {
    const all = lane.waiting.splice(0);
    waitingCount -= all.length;
    return all;
  }

  /** The call conflicted to the end. Orders that have waited for as long need not wait again. */
  function failSlow(lane: Lane, error: DatabaseFailure): void {
    goAlone(lane, "slow");
    const oldest = now() - unfinishedForMs;
    const all = takeAll(lane);
    const fresh = all.filter(({ since }) => since > oldest);
    rejectAll(
      all.filter(({ since }) => since <= oldest),
      error,
    );
    putBack(fresh);
  }

  /** The orders of one market failed as a whole and had no effect: only one of them is at fault. */
  async function placeOneByOne(taken: Waiting[]): Promise<void> {
    for (const waiting of taken) {
      try {
        const order = [waiting.request];
        answer([waiting], await withRetries(pool, (client) => placeOrders(client, order), retries));
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  /** Gives orders their results, and puts those back that are to be placed again. */
  function answer(taken: Waiting[], outcomes: Outcome[]): void {
    if (outcomes.length !== taken.length) {
      // It is committed, so there is nothing to try again and nobody to give a result to.
      rejectAll(taken, wrongCount(taken, outcomes));
      return;
    }
    const again: Waiting[] = [];
    const results: Outcome[] = [];
    outcomes.forEach((outcome, index) => {
      const waiting = taken[index];
      if (waiting === undefined) return;
      const lane = laneOf(waiting.request.marketId);
      const isBusy = outcome.code === "MARKET_BUSY";
      if (isBusy || isUnfinished(outcome, waiting.since, unfinishedForMs, now())) {
        goAlone(lane, "busy");
        again.push(waiting);
      } else {
        results.push(outcome);
        waiting.resolve(outcome);
      }
    });
    putBack(again);
    if (results.length > 0 || again.length > 0) onCommitted(results);
  }

  /** To the front of their lanes, in their order. */
  function putBack(orders: Waiting[]): void {
    for (let place = orders.length - 1; place >= 0; place--) {
      const waiting = orders[place];
      if (waiting === undefined) continue;
      laneOf(waiting.request.marketId).waiting.unshift(waiting);
      waitingCount++;
    }
  }

  function goAlone(lane: Lane, because: "busy" | "slow" | "suspect"): void {
    lane.aloneUntil = now() + aloneForMs;
    lane.isSuspect = because === "suspect";
    if (because !== "busy") lane.isSlow = because === "slow";
  }

  function endCall(ended: Iterable<Lane>): void {
    for (const lane of ended) {
      lane.isUnderWay = false;
      makeReady(lane);
    }
  }

  function rejectReady(ready: Set<Lane>, error: unknown): void {
    const all = [...ready];
    ready.clear();
    for (const lane of all) rejectAll(takeAll(lane), error);
  }

  function lanesOf(orders: Waiting[]): Set<Lane> {
    return new Set(orders.map(({ request }) => laneOf(request.marketId)));
  }

  return { place, placeTogether, drained };
}

function maxOf(pool: Pool): number | undefined {
  // A pool of tests may have no options.
  return (pool as { options?: { max?: number } }).options?.max;
}

function requestsOf(taken: Waiting[]): OrderRequest[] {
  return taken.map(({ request }) => request);
}

function sumOfWork(taken: Waiting[]): number {
  return taken.reduce((sum, { request }) => sum + workOf(request), 0);
}

function wrongCount(orders: unknown[], outcomes: Outcome[]): RangeError {
  return new RangeError(
    `api.place_orders gave ${outcomes.length} results to ${orders.length} orders`,
  );
}

function rejectAll(taken: Waiting[], error: unknown): void {
  for (const waiting of taken) waiting.reject(error);
}
