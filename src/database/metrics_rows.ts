import { bigint, boolean, double, nullable, text } from "./call.ts";

/** What the functions for monitoring return. */

export const databaseMetrics = {
  serverVersion: text,
  schemaVersion: nullable(text),
  tradingPaused: boolean,
  trades: bigint,
  pendingAnnouncements: bigint,
  releaseLatenessSeconds: double,
  expiryLatenessSeconds: double,
  waitingJobs: nullable(bigint),
  oldestJobLatenessSeconds: nullable(double),
  verificationAgeSeconds: nullable(double),
  brokenInvariants: nullable(bigint),
  notificationQueueUsage: double,
  waitingLocks: bigint,
  longestLockWaitSeconds: double,
  connections: bigint,
  maxConnections: bigint,
  deadlocks: bigint,
  transactionIdAge: bigint,
};
export const workerMetrics = { atMs: double, heartbeatAgeSeconds: nullable(double) };
/** Of a sequence that would give out an id again. */
export const laggingSequence = { sequenceName: text, lastId: bigint, highestId: bigint };
export const historyMetrics = {
  sealedBlock: nullable(bigint),
  oldestUnsealedAgeSeconds: double,
  unverifiedBlocks: bigint,
  oldestUnverifiedAgeSeconds: double,
};
export const archiveMetrics = { archiveFails: boolean };
export const mailMetrics = {
  waitingMails: bigint,
  oldestMailAgeSeconds: double,
  failedMails: bigint,
};
