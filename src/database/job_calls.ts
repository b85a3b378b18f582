import { bigint, boolean, bytea, double, int, interval, json, text, timestamp } from "./call.ts";
import { arrayOf, functionsOf, nullable } from "./call.ts";
import { many, manyRows, nothing, once, one, oneRow, repeatable, rowIfFound } from "./call.ts";
import type { CallsOn, RowOf } from "./call.ts";
import { ofProcess } from "./calls.ts";
import { laggingSequence } from "./metrics_rows.ts";

/** The functions of `db/jobs/functions/`, as `calls.ts` has those of the API. */

const nextWork = {
  atMs: double,
  releaseInMs: nullable(double),
  expireInMs: nullable(double),
  closeInMs: nullable(double),
  mailInMs: nullable(double),
  deadManInMs: nullable(double),
  openInMs: nullable(double),
};
const dueMail = {
  mailId: bigint,
  kind: text,
  address: text,
  details: json,
};

/** A market is refreshed as a whole, whatever the number of its positions. */
const REFRESH_TIMEOUT_MS = 600_000;
const PUBLICATION_TIMEOUT_MS = 3_600_000;
const VERIFICATION_TIMEOUT_MS = 6 * 3_600_000;

const toPassOver = { passingOver: arrayOf(bigint) };
const inMarket = { marketId: bigint, waits: boolean };

/**
 * For workers, as exchange_worker. Those that return a number do one piece of work, and return how
 * much that was: 0 when nothing is left, null when the market is locked.
 */
export const jobs = functionsOf("jobs", {
  warmUp: repeatable({}, nothing),
  listLaggingSequences: repeatable({}, manyRows(laggingSequence)),
  beat: repeatable({}, nothing),
  noteProcess: repeatable(ofProcess, nothing),
  lastTicks: repeatable({}, manyRows({ job: text, atMs: double })),
  claimTick: repeatable({ job: text, tickAt: timestamp }, one(boolean)),
  nextWork: repeatable(toPassOver, oneRow(nextWork)),

  dueReleaseGroups: repeatable(toPassOver, many(arrayOf(bigint))),
  dueExpiries: repeatable(toPassOver, many(bigint)),
  dueClosings: repeatable(toPassOver, many(bigint)),
  dueOpenings: repeatable(toPassOver, many(bigint)),
  releaseOrders: repeatable(inMarket, one(nullable(int))),
  releaseGroup: repeatable(
    { marketIds: arrayOf(bigint) },
    oneRow({ released: int, busy: arrayOf(bigint) }),
  ),
  expireOrders: repeatable(inMarket, one(nullable(int))),
  closeMarkets: repeatable(inMarket, one(nullable(int))),
  openMarkets: repeatable(inMarket, one(nullable(int))),

  dueDeadManOrders: repeatable(
    toPassOver,
    manyRows({ marketId: bigint, orderIds: arrayOf(bigint) }),
  ),
  cancelDeadManOrders: repeatable(
    { marketIds: arrayOf(bigint), orderIds: arrayOf(bigint), waits: boolean },
    oneRow({ cancelled: int, busy: arrayOf(bigint) }),
  ),

  archiveOrders: repeatable({}, one(int)),
  removeKeys: repeatable({}, one(int)),
  makeEventPartitions: repeatable({}, one(int)),
  removeSentEvents: repeatable({}, one(int)),
  removeSessions: repeatable({}, one(int)),
  removeCounters: repeatable({}, one(int)),
  removeMails: repeatable({}, one(int)),
  removeSignUps: repeatable({}, one(int)),
  takeMail: once(
    { tokenHash: bytea, lanes: arrayOf(text), underWay: arrayOf(text) },
    rowIfFound(dueMail),
  ),
  finishMail: repeatable({ mailId: bigint, error: nullable(text) }, nothing),
  refreshLeaderboard: repeatable({ pause: interval }, one(int), { timeoutMs: REFRESH_TIMEOUT_MS }),
  dueCandles: repeatable({}, many(arrayOf(bigint))),
  makeCandles: repeatable({ marketIds: nullable(arrayOf(bigint)) }, one(int)),
  valueAccounts: repeatable({}, one(int)),
  sealHistory: repeatable(
    {},
    oneRow({ rowCount: bigint, block: nullable(bigint), hash: nullable(text) }),
  ),
  historyHead: repeatable({}, one(json)),
  publishProof: repeatable({}, oneRow({ root: text, totalCents: bigint }), {
    timeoutMs: PUBLICATION_TIMEOUT_MS,
  }),
  verifyLedger: repeatable({}, one(bigint), { timeoutMs: VERIFICATION_TIMEOUT_MS }),
});

export type JobCalls = CallsOn<typeof jobs>;
/** A mail to send. */
export type DueMail = RowOf<typeof dueMail>;
export type NextWork = RowOf<typeof nextWork>;
