import { bigint, boolean, bytea, date, double, inet, int, json, text } from "./call.ts";
import { timestamp, uuid } from "./call.ts";
import { arrayOf, asJson, functionsOf, nullable, sqlType } from "./call.ts";
import { many, manyRows, nothing, once, one, oneRow, repeatable, rowIfFound } from "./call.ts";
import type { CallsOn, RowOf } from "./call.ts";
import { databaseMetrics, historyMetrics, laggingSequence } from "./metrics_rows.ts";
import { archiveMetrics, mailMetrics, workerMetrics } from "./metrics_rows.ts";

/**
 * The functions of the database that processes call: arguments, result, and whether a call may be
 * repeated that may have been carried out. The functions describe themselves in `db/api/functions/`.
 * `test/database/calls.test.ts` compares this table with the catalogue. `job_calls.ts` has those of
 * the worker. Bodies of answers are JSON text that is passed on as it is.
 */

/** An order without its market. What is absent or null gets the database's default. */
export interface OrderTerms {
  userId: string;
  side: "yes" | "no";
  price?: number | null | undefined;
  quantity?: number | null | undefined;
  budgetCents?: number | null | undefined;
  orderType?: "buy" | "sell" | null | undefined;
  timeInForce?: "gtc" | "ioc" | "fok" | null | undefined;
  selfTrade?: "reject" | "cancel_resting" | null | undefined;
  idempotencyKey?: string | null | undefined;
  /** With it, another request with the key is rejected. */
  requestFingerprint?: string | null | undefined;
  expiresAt?: string | null | undefined;
  postOnly?: boolean | null | undefined;
}

export interface OrderRequest extends OrderTerms {
  marketId: string;
}

/** An address or a user's id that is counted in a bucket, once or `count` times. */
export type CountedSubject = string | { subject: string; count: number };

/** The buckets in which one request is counted, each with an address or a user's id. */
export type RequestCounters = Partial<
  Record<
    | ("v1" | "v1-auth" | "v1-user" | "v1-cancel-all" | "unknown-key" | "graphql")
    | ("sse:market" | "sse:user" | "sse:user-ip")
    | ("sign-in" | "sign-in-account" | "sign-in-strangers" | "sign-up" | "mail" | "mail-account"),
    CountedSubject
  >
>;

/** The address of an event stream, and its user if it is a user's stream. */
export interface StreamHolder {
  address: string;
  userId?: string | undefined;
  /** How many slots it takes. */
  slots: number;
}

/** What api.run_command carries out. */
export type Command = "cancel" | "amend" | "split" | "merge";

export type StaffRole = "analyst" | "operator";

/** What an API key may do. */
export type KeyScope = "read" | "trade";

/** `endsInMs`: 0 is ended, null is without end. */
const credentialEnd = { credentialId: uuid, endsInMs: nullable(double) };
const commandResult = {
  code: nullable(text),
  message: nullable(text),
  replayed: boolean,
  body: text,
};
/** With the version of the market after the command. */
const versionedResult = { ...commandResult, marketVersion: nullable(bigint) };
/** Of one call of a cancel of all orders. `body` is null while there is more to do. */
const cancelledOrders = {
  code: nullable(text),
  message: nullable(text),
  replayed: boolean,
  body: nullable(text),
  cancelled: nullable(int),
  lastOrderId: nullable(bigint),
};
/** `firedAt`: when the switch expired last, if that was within 24 hours. */
const setSwitch = { ...commandResult, firedAt: nullable(text) };
const marketView = { version: bigint, body: json };
const followedMarket = {
  version: bigint,
  status: text,
  levels: json,
  trades: nullable(json),
  lastTradeId: bigint,
  snapshot: nullable(text),
};
const sentEvent = {
  id: bigint,
  position: bigint,
  kind: nullable(text),
  payload: nullable(json),
  userIds: nullable(arrayOf(uuid)),
};
const streamRow = { stream: int, position: nullable(bigint), event: nullable(json) };
const countedRequest = {
  allowed: boolean,
  retryAfterSeconds: nullable(int),
  windows: nullable(json),
};
const tokens = {
  retryAfterSeconds: nullable(int),
  requestsPerMinute: nullable(int),
  burstCapacity: nullable(int),
  remaining: nullable(bigint),
};
/** Of a user who signed in; both are null if the e-mail or the password was wrong. */
const signedIn = { userId: nullable(uuid), cookie: nullable(text) };
const signedInStaff = { staffId: nullable(uuid), cookie: nullable(text) };
/** What a browser needs to make a passkey. */
const passkeyStart = { challenge: bytea, email: text, displayName: text, known: json };

/** After a longer read, the connection counts as lost. */
const READ_EVENTS_TIMEOUT_MS = 5000;

const category = { category: text };
const window = { ...category, window: text };
const paged = { page: int, pageSize: int };
const ofUser = { userId: uuid };
const listed = { userId: uuid, most: int, cursor: nullable(text) };
const timeRange = { since: nullable(timestamp), until: nullable(timestamp) };
const ofMarket = { marketId: uuid };
const ofOrder = { userId: uuid, orderId: uuid };
const ofLease = { leaseId: uuid };
const ofStream = { leaseId: uuid, address: text, userId: nullable(uuid), slots: int };
const ofSession = { userId: uuid, sessionId: uuid };
const whoRuns = { processId: uuid, host: text, systemNumber: int, version: text };
/** A server or worker that notes that it runs. */
export const ofProcess = { ...whoRuns, ends: boolean };
/** What a session is made for. */
const ofBrowser = { browser: nullable(text), isHostOnly: boolean, address: nullable(inet) };
const ofBrowserBefore = { ...ofBrowser, endedCookieHash: nullable(bytea) };
const ofChallenge = { challenge: bytea, credentialId: bytea };
const newPasskey = {
  ...ofChallenge,
  publicKey: bytea,
  signCount: bigint,
  transports: arrayOf(text),
};
const amendment = { price: nullable(int), quantity: nullable(int) };
const ofKey = { userId: uuid, idempotencyKey: uuid, requestFingerprint: uuid };
/** A command that is carried out once, however often it is sent. */
const idempotency = { idempotencyKey: nullable(uuid), requestFingerprint: nullable(uuid) };
const conversion = {
  ...ofUser,
  eventId: uuid,
  marketIds: nullable(sqlType<string[]>("uuid[]")),
  quantity: int,
};
const orders = { orders: asJson<OrderRequest[]>("jsonb"), atomic: boolean, waits: boolean };

/** A call of orders that waits for locks, may meet any number of makers, and has no key. */
export const ALL_ORDERS = {
  ...{ atomic: false, waits: true, skips: false, mostMakers: null },
  ...{ userId: null, idempotencyKey: null, requestFingerprint: null, payers: null },
};

/** For servers, as exchange_api. */
export const api = functionsOf("api", {
  warmUp: repeatable({}, nothing),

  authenticate: repeatable(
    { kinds: arrayOf(text), hashes: arrayOf(bytea), details: arrayOf(nullable(text)) },
    many(nullable(json)),
  ),
  noteKeyUse: repeatable({ apiKeyId: uuid, address: nullable(inet) }, nothing),
  createSessionToken: repeatable({ sessionId: uuid, address: nullable(inet) }, one(nullable(json))),
  listCredentialEnds: repeatable({ credentialIds: arrayOf(uuid) }, manyRows(credentialEnd)),
  countRequests: repeatable(
    { requests: asJson<RequestCounters[]>("json") },
    manyRows(countedRequest),
  ),
  spendTokens: repeatable(
    { userIds: arrayOf(uuid), counts: arrayOf(int) },
    manyRows({ allowed: nullable(boolean), ...tokens }),
  ),
  returnRequests: once({ counters: asJson<RequestCounters>("json") }, nothing),

  runOrders: once(
    {
      ...orders,
      skips: boolean,
      mostMakers: nullable(int),
      userId: nullable(uuid),
      ...idempotency,
      payers: nullable(arrayOf(nullable(uuid))),
    },
    manyRows({ ...versionedResult, ...tokens }),
  ),
  placeOrders: once(orders, manyRows(commandResult)),
  previewOrder: repeatable({ order: asJson<OrderRequest>("jsonb") }, oneRow(commandResult)),
  runCommand: once(
    {
      command: sqlType<Command>("text"),
      ...ofUser,
      orderId: nullable(uuid),
      marketId: nullable(uuid),
      ...amendment,
      ...idempotency,
      mostMakers: nullable(int),
    },
    oneRow(versionedResult),
  ),
  convertShares: once({ ...conversion, ...idempotency }, oneRow(commandResult)),
  disputeResolution: once({ ...ofUser, ...ofMarket, text, ...idempotency }, oneRow(commandResult)),
  previewConversion: repeatable(conversion, oneRow(commandResult)),
  beginCommand: repeatable(ofKey, oneRow(commandResult)),
  endCommand: repeatable({ ...ofKey, reply: text }, oneRow(commandResult)),
  cancelAllOrders: repeatable(
    {
      ...ofUser,
      marketId: nullable(uuid),
      ...idempotency,
      untilOrderId: nullable(bigint),
      cancelledBefore: int,
    },
    oneRow(cancelledOrders),
  ),
  setDeadMan: repeatable({ ...ofUser, timeoutMs: int, ...idempotency }, oneRow(setSwitch)),
  getDeadMan: repeatable(ofUser, one(json)),

  getAccount: repeatable(ofUser, one(json)),
  getRateLimits: repeatable(ofUser, one(json)),
  getPortfolio: repeatable(ofUser, one(json)),
  getOwnPositions: repeatable({ ...ofUser, marketId: nullable(uuid) }, one(json)),
  listDisputes: repeatable({ ...ofUser, marketId: nullable(uuid) }, one(json)),
  getAccountValue: repeatable(
    { ...ofUser, since: nullable(date), until: nullable(date) },
    one(json),
  ),
  getYearStatement: repeatable({ ...ofUser, year: int }, one(json)),
  getOrder: repeatable(ofOrder, one(nullable(json))),
  listOrders: repeatable({ ...ofUser, marketId: nullable(uuid), status: text }, one(json)),
  listAccountOrders: repeatable({ ...ofUser, status: text, ...paged }, one(json)),

  listOrderHistory: repeatable({ ...listed, marketId: nullable(uuid) }, one(json)),
  listFills: repeatable(
    { ...listed, marketId: nullable(uuid), orderId: nullable(uuid) },
    one(json),
  ),
  getStatement: repeatable({ ...listed, ...timeRange }, one(json)),
  listConversionEvents: repeatable({ ...ofUser, entryIds: arrayOf(bigint) }, one(json)),
  listUndoneTrades: repeatable({ ...ofUser, marketIds: arrayOf(uuid) }, one(json)),

  listMarkets: repeatable(
    {
      ...paged,
      query: nullable(text),
      category: nullable(text),
      status: text,
      sort: text,
    },
    one(nullable(json)),
  ),
  listCandles: repeatable({ ...ofMarket, interval: text, ...timeRange }, rowIfFound(marketView)),
  listCategories: repeatable({}, one(json)),
  searchEvents: repeatable(
    { ...paged, query: nullable(text), status: text, sort: text },
    one(json),
  ),
  listOutcomes: repeatable({ eventId: uuid }, one(nullable(json))),
  listEvents: repeatable({ ...category, ...paged }, one(nullable(json))),
  listCategoryMarkets: repeatable({ ...category, status: text, ...paged }, one(nullable(json))),
  getEvent: repeatable({ eventId: uuid }, one(nullable(json))),
  listEventHeadings: repeatable({ eventIds: arrayOf(uuid) }, one(json)),
  getMarket: repeatable(ofMarket, rowIfFound(marketView)),
  getChance: repeatable(ofMarket, rowIfFound(marketView)),
  getMarketRules: repeatable(ofMarket, rowIfFound(marketView)),
  getMarketResolution: repeatable(ofMarket, one(nullable(json))),
  listMarketTitles: repeatable({ marketIds: arrayOf(uuid) }, one(json)),
  listSparklines: repeatable({ marketIds: arrayOf(uuid) }, one(json)),
  getExchange: repeatable({ version: text }, one(json)),
  getHistoryHead: repeatable({}, one(json)),
  getBalanceProof: repeatable({}, one(json)),
  getOwnProof: repeatable(ofUser, one(nullable(json))),
  getMarketSnapshot: repeatable(ofMarket, rowIfFound({ ...marketView, body: text })),
  followMarket: repeatable(
    { ...ofMarket, afterTradeId: nullable(bigint), withSnapshot: boolean },
    rowIfFound(followedMarket),
  ),
  getOrderBook: repeatable(ofMarket, rowIfFound(marketView)),
  listTrades: repeatable({ ...ofMarket, ...paged }, rowIfFound(marketView)),

  getLeaderboard: repeatable({ ...window, most: int }, one(nullable(json))),
  getLeaderboardSummary: repeatable(window, one(nullable(json))),
  getOwnStanding: repeatable({ ...ofUser, ...window }, one(nullable(json))),

  relayOutbox: repeatable({}, one(bigint)),
  sendEvents: repeatable({ afterId: nullable(bigint), most: int }, manyRows(sentEvent)),
  followEvents: repeatable({ afterId: nullable(bigint), most: int }, manyRows(sentEvent), {
    timeoutMs: READ_EVENTS_TIMEOUT_MS,
  }),
  findUserPosition: repeatable({ lastEventId: nullable(bigint) }, one(nullable(bigint))),
  readUserEvents: repeatable(
    {
      userIds: arrayOf(uuid),
      positions: arrayOf(bigint),
      withFills: arrayOf(boolean),
      withSettlements: arrayOf(boolean),
      withMarkets: arrayOf(boolean),
      most: int,
    },
    manyRows(streamRow),
  ),
  openStream: once(ofStream, oneRow({ isLeased: boolean, isAllowed: boolean })),
  closeStream: once(ofStream, nothing),
  leaseStreams: once(
    { ...ofLease, streams: asJson<StreamHolder[]>("json"), insteadOf: nullable(uuid) },
    nothing,
  ),
  renewStreamLease: repeatable(ofLease, one(boolean)),
  endStreamLease: repeatable(ofLease, nothing),

  getSignUp: repeatable({}, one(json)),
  getLink: repeatable({ tokenHash: bytea }, one(json)),
  getPasswordSettings: repeatable(
    {
      standard: text,
      email: nullable(text),
      userId: nullable(uuid),
      linkHash: nullable(bytea),
    },
    one(text),
  ),
  getBrowserMark: repeatable(
    { email: nullable(text), userId: nullable(uuid), credentialId: nullable(bytea) },
    one(nullable(text)),
  ),
  signUp: once(
    {
      email: text,
      displayName: nullable(text),
      handle: nullable(text),
      passwordHash: text,
      ...ofBrowserBefore,
      invitationHash: nullable(bytea),
      confirmedAge: nullable(int),
    },
    oneRow({ userId: uuid, emailConfirmed: boolean, cookie: text }),
  ),
  signIn: once(
    { email: text, passwordHash: text, ...ofBrowserBefore, isKnown: nullable(boolean) },
    oneRow(signedIn),
  ),
  startPasskeySignIn: repeatable({}, one(bytea)),
  getPasskey: repeatable({ credentialId: bytea }, rowIfFound({ publicKey: bytea })),
  signInByPasskey: once(
    {
      ...ofChallenge,
      userHandle: uuid,
      signCount: bigint,
      ...ofBrowserBefore,
      isKnown: nullable(boolean),
    },
    oneRow(signedIn),
  ),
  signInByLink: once({ tokenHash: bytea, ...ofBrowserBefore }, oneRow(signedIn)),
  signOut: repeatable({ sessionId: uuid }, nothing),
  listSessions: repeatable(ofSession, one(json)),
  endSession: repeatable({ ...ofSession, endedId: uuid }, one(bigint)),
  endOtherSessions: repeatable(ofSession, one(bigint)),
  changePassword: once(
    { ...ofSession, currentHash: text, passwordHash: text, ...ofBrowser },
    one(text),
  ),
  rehashPassword: repeatable({ ...ofUser, currentHash: text, passwordHash: text }, nothing),
  requestPasswordReset: once({ email: text }, nothing),
  resetPassword: once(
    {
      tokenHash: bytea,
      passwordHash: text,
      ...ofBrowser,
      challenge: nullable(bytea),
      credentialId: nullable(bytea),
      userHandle: nullable(uuid),
      signCount: nullable(bigint),
    },
    oneRow({ ...signedIn, waysIn: json }),
  ),
  changeEmail: once({ ...ofSession, email: text, passwordHash: text }, nothing),
  resendConfirmation: once(ofSession, nothing),
  confirmEmail: once(
    {
      tokenHash: bytea,
      handle: nullable(text),
      userId: nullable(uuid),
      sessionId: nullable(uuid),
      passwordHash: nullable(text),
    },
    one(nullable(json)),
  ),
  getOwnProfile: repeatable(ofUser, one(json)),
  changeOwnProfile: repeatable(
    {
      ...ofSession,
      displayName: nullable(text),
      handle: nullable(text),
      avatarUrl: nullable(text),
      private: nullable(boolean),
      leaderboardOptOut: nullable(boolean),
    },
    one(json),
  ),
  setOwnLimits: repeatable(
    {
      ...ofSession,
      dayCents: nullable(bigint),
      weekCents: nullable(bigint),
      monthCents: nullable(bigint),
    },
    one(json),
  ),
  confirmOwnAge: repeatable({ ...ofSession, confirmedAge: int }, one(json)),
  getRealityCheck: repeatable(ofSession, one(nullable(json))),
  goOnAfterRealityCheck: repeatable(ofSession, one(json)),
  setRealityCheck: repeatable({ ...ofSession, everyMinutes: nullable(int) }, one(json)),
  excludeSelf: repeatable({ ...ofSession, until: nullable(timestamp) }, one(json)),
  listKeys: repeatable(ofUser, one(json)),
  createKey: once(
    {
      ...ofSession,
      name: text,
      scopes: arrayOf(text),
      expiresAt: nullable(timestamp),
      allowedAddresses: nullable(arrayOf(text)),
    },
    one(json),
  ),
  rotateKey: once({ ...ofSession, keyId: uuid, overlapSeconds: int }, one(nullable(json))),
  revokeKey: repeatable({ ...ofSession, keyId: uuid }, one(boolean)),
  revokeKeys: repeatable(ofSession, one(int)),
  startPasskey: repeatable(ofSession, oneRow(passkeyStart)),
  addPasskey: once(
    {
      ...ofSession,
      ...newPasskey,
      name: text,
    },
    one(json),
  ),
  listPasskeys: repeatable(ofUser, one(json)),
  removePasskey: once({ ...ofSession, passkeyId: uuid }, one(boolean)),

  getStaffPasswordSettings: repeatable({ standard: text, email: text }, one(text)),
  getStaffPasskey: repeatable({ credentialId: bytea }, rowIfFound({ publicKey: bytea })),
  signInStaff: once(
    {
      email: text,
      passwordHash: text,
      ...ofChallenge,
      userHandle: uuid,
      signCount: bigint,
      browser: nullable(text),
      endedCookieHash: nullable(bytea),
      address: nullable(inet),
    },
    oneRow(signedInStaff),
  ),
  getStaffLink: repeatable({ tokenHash: bytea }, one(json)),
  acceptStaffInvitation: once(
    {
      tokenHash: bytea,
      passwordHash: text,
      ...newPasskey,
      passkeyName: text,
      browser: nullable(text),
      address: nullable(inet),
    },
    oneRow(signedInStaff),
  ),
  startStaffPasskey: repeatable({ sessionId: uuid }, oneRow({ challenge: bytea, known: json })),
  addStaffPasskey: once({ sessionId: uuid, ...newPasskey, name: text }, nothing),
  signOutStaff: repeatable({ sessionId: uuid }, nothing),

  getMetrics: repeatable({}, oneRow(databaseMetrics)),
  getMailMetrics: repeatable({}, oneRow(mailMetrics)),
  getWorkerMetrics: repeatable({}, oneRow(workerMetrics)),
  getHistoryMetrics: repeatable({}, oneRow(historyMetrics)),
  getArchiveMetrics: repeatable({}, oneRow(archiveMetrics)),
  noteProcess: repeatable(ofProcess, nothing),
  listLaggingSequences: repeatable({}, manyRows(laggingSequence)),
});

export type ApiCalls = CallsOn<typeof api>;

/** The caller with an API key. */
export interface KeyCaller {
  userId: string;
  apiKeyId: string;
  scopes: readonly KeyScope[];
}
export type CredentialEnd = RowOf<typeof credentialEnd>;
export interface SessionCaller {
  userId: string;
  sessionId: string;
}
/** Who calls, and by what. */
export type Caller = KeyCaller | SessionCaller;
/** An operator or analyst. The name is that of the key, the hash its SHA-256. */
export interface Staff {
  staffKeyId: string;
  keyHash: Buffer;
  name: string;
  role: StaffRole;
}
/** The result of a command: `body` if it was accepted, `code` and `message` if rejected. */
export type CommandResult = RowOf<typeof commandResult>;
export type VersionedResult = RowOf<typeof versionedResult>;
/** An order's result, with what its call took from its user's token bucket. */
export type PlacedOrder = VersionedResult & Tokens;
/** One market, as of one version of it. */
export type MarketView = RowOf<typeof marketView>;
/** A market at one moment, with the trades after one; null: there are too many. */
export type FollowedMarket = RowOf<typeof followedMarket>;
/**
 * An event. Without a kind it says that events before it may be missing. `userIds` are those for
 * whose streams it has frames, apart from the user of a user_event.
 */
export type SentEvent = RowOf<typeof sentEvent>;
/**
 * An event of one of the streams that were asked for, counted from 1; at the end of a stream, without
 * an event, the position that it has come to, or none if what follows its position is gone.
 */
export type StreamRow = RowOf<typeof streamRow>;
/** `windows` is JSON, of {@link RequestWindow}s. */
export type CountedRequest = RowOf<typeof countedRequest>;
/** What is left in a token bucket. All are null where no token was asked for. */
export type Tokens = RowOf<typeof tokens>;
/** `allowed` is null if another transaction has the bucket locked. */
export type Payment = { allowed: boolean | null } & Tokens;
/** A rolling window in which a request was counted. */
export interface RequestWindow {
  bucket: string;
  quota: number;
  seconds: number;
  remaining: number;
}
export type LaggingSequence = RowOf<typeof laggingSequence>;
export type DatabaseMetrics = RowOf<typeof databaseMetrics>;
export type WorkerMetrics = RowOf<typeof workerMetrics>;
export type MailMetrics = RowOf<typeof mailMetrics>;
export type HistoryMetrics = RowOf<typeof historyMetrics>;
export type ArchiveMetrics = RowOf<typeof archiveMetrics>;
export type CancelledOrders = RowOf<typeof cancelledOrders>;
