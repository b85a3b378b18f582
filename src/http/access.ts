import type { Request, Response } from "express";
import type {
  Caller,
  CountedRequest,
  KeyScope,
  Payment,
  RequestCounters,
  RequestWindow,
  SessionCaller,
  Staff,
  StaffRole,
} from "../database/calls.ts";
import type { Token } from "../engine/lane.ts";
import { isWellFormedSecret } from "../secrets.ts";
import type { SecretPrefix } from "../secrets.ts";
import { staffIdOf, tokenOf, userIdOf } from "./authentication.ts";
import type { Authenticator, StaffCaller } from "./authentication.ts";
import { clientAddressOf, ipAddressOf } from "../client_address.ts";
import { invalidRequest, ProblemError, rejection } from "./problems.ts";
import type { RequestLimiter } from "./request_limiter.ts";
import { sessionCookieOf, staffCookieOf } from "./session_cookie.ts";
import type { Site } from "./own_origin.ts";
import type { TradingTokens } from "./trading_tokens.ts";

/** The callers that each way to identify them finds. */
export interface Callers {
  none: undefined;
  /** Anybody, also without a session's token. The token says for whom a request counts. */
  public: SessionCaller | undefined;
  /** An API key or a session's token. */
  key: Caller;
  /** The cookie of a session: for pages of the website. */
  session: SessionCaller;
  /** A session's token and no API key: what users do with their accounts on the website. */
  token: SessionCaller;
  /** The cookie of a session of a member of staff. */
  staff: StaffCaller;
}

/** How a route identifies its callers. */
export type Auth = keyof Callers;

/** What a request is counted as: see {@link countersOf}. */
export type RateLimit = "none" | "read" | "trading" | "cancel-all" | "account" | "stream";

/** The sender of a request that is counted. */
export interface Client {
  caller: Caller | StaffCaller | undefined;
  address: string;
}

/** Checks before each request: who calls, and how often. */
export interface Access {
  /** Returns who calls, or ends the request: 401. */
  identify: <Kind extends Auth>(
    auth: Kind,
    request: Request,
    response: Response,
  ) => Promise<Callers[Kind]>;
  /** Returns the holder of a staff key of this role, or ends the request: 401. */
  identifyStaff: (role: StaffRole, request: Request, response: Response) => Promise<Staff>;
  /**
   * Ends a request of an API key without this scope: 403. It counts like one with an unknown key, by
   * the address, so that it takes nothing from what the user's other keys may do.
   */
  checkScope: (scope: KeyScope, client: Client, response: Response) => Promise<void>;
  /** Counts a request once or several times, or ends it if there are too many: 429. */
  count: (
    rateLimit: RateLimit,
    client: Client,
    response: Response,
    requests?: number,
  ) => Promise<void>;
  /**
   * Of a request that may be counted in the call that it makes. Undefined: it is counted before.
   * Without a token left, its `take` and `taken` end the request: 429.
   */
  tokenOf: (rateLimit: RateLimit, client: Client, response: Response) => Token | undefined;
  /** Counts an attempt in these buckets, or ends the request if there were too many: 429. */
  countAttempt: (counters: AttemptCounters, response: Response) => Promise<void>;
}

/** What attempts are counted in: by address, by caller, and by an account or its e-mail address. */
export type AttemptCounters = Pick<
  RequestCounters,
  | "unknown-key"
  | "graphql"
  | "sign-in"
  | "sign-in-account"
  | "sign-in-strangers"
  | "sign-up"
  | "mail"
  | "mail-account"
>;

export interface AccessOptions {
  authenticator: Authenticator;
  limiter: RequestLimiter;
  tokens: Pick<TradingTokens, "take">;
  site: Pick<Site, "isSecure">;
}

/** A kind of secret that identifies its holder. */
interface Credential<Holder> {
  read: (request: Request) => string | undefined;
  prefixes: SecretPrefix[];
  holderOf: (secret: string, address: string | undefined) => Promise<Holder | undefined>;
}

/** A batch with more orders than the rate limit ever allows at once. */
const tooManyAtOnce = invalidRequest([
  { path: "orders", message: "must be at most as many as the rate limit allows at once" },
]);

interface Credentials {
  token: Credential<Caller>;
  cookie: Credential<SessionCaller>;
  sessionToken: Credential<SessionCaller>;
  staffCookie: Credential<StaffCaller>;
  staffKeys: Record<StaffRole, Credential<Staff>>;
}

function credentialsOf({ authenticator, site }: AccessOptions): Credentials {
  return {
    token: { read: tokenOf, prefixes: ["jk_", "jt_"], holderOf: authenticator.callerOf },
    cookie: {
      read: (request) => sessionCookieOf(request, site.isSecure(request)),
      prefixes: ["js_", "jh_"],
      holderOf: authenticator.callerOfCookie,
    },
    sessionToken: { read: tokenOf, prefixes: ["jt_"], holderOf: authenticator.callerOfToken },
    staffCookie: {
      read: (request) => staffCookieOf(request, site.isSecure(request)),
      prefixes: ["jf_"],
      holderOf: authenticator.callerOfStaffCookie,
    },
    staffKeys: {
      analyst: { read: tokenOf, prefixes: ["ja_"], holderOf: authenticator.staffOf },
      operator: { read: tokenOf, prefixes: ["jo_"], holderOf: authenticator.staffOf },
    },
  };
}

/** The checks of one process. */
export function makeAccess(options: AccessOptions): Access {
  const { authenticator, limiter, tokens } = options;
  const { token, cookie, sessionToken, staffCookie, staffKeys } = credentialsOf(options);

  /** Counts a request, or ends it if there are too many. */
  async function take(counters: RequestCounters, response: Response): Promise<void> {
    const taken = await limiter.take(counters);
    describeWindows(taken, response);
    endIfTooMany(taken, response);
  }

  async function holderOf<Holder>(
    credential: Credential<Holder>,
    request: Request,
    response: Response,
  ): Promise<Holder> {
    const secret = secretOf(credential, request);
    // This costs no call of the database, so it is not limited.
    if (secret === undefined) throw new ProblemError(rejection("UNAUTHORIZED"));
    const holder = await credential.holderOf(secret, ipAddressOf(request));
    if (holder !== undefined) return holder;
    // Counted apart, so that strangers use up nothing of what the callers at their address may do.
    await take({ "unknown-key": clientAddressOf(request) }, response);
    throw new ProblemError(rejection("UNAUTHORIZED"));
  }

  const identifiers: { [Kind in Auth]: (...of: [Request, Response]) => Promise<Callers[Kind]> } = {
    none: () => Promise.resolve(undefined),
    public: async (request) => {
      const secret = secretOf(sessionToken, request);
      return secret === undefined ? undefined : await authenticator.callerOfToken(secret);
    },
    key: (request, response) => holderOf(token, request, response),
    session: (request, response) => holderOf(cookie, request, response),
    token: (request, response) => holderOf(sessionToken, request, response),
    staff: (request, response) => holderOf(staffCookie, request, response),
  };

  return {
    identify: (auth, request, response) => identifiers[auth](request, response),
    identifyStaff: async (role, request, response) => {
      const staff = await holderOf(staffKeys[role], request, response);
      if (staff.role !== role) throw new ProblemError(rejection("UNAUTHORIZED"));
      return staff;
    },
    checkScope: async (scope, { caller, address }, response) => {
      // Sessions have all scopes.
      if (caller === undefined || !("apiKeyId" in caller) || caller.scopes.includes(scope)) return;
      await take({ "unknown-key": address }, response);
      throw new ProblemError(rejection("KEY_SCOPE"));
    },
    count: async (rateLimit, client, response, requests = 1) => {
      const userId = traderOf(rateLimit, client);
      if (userId !== undefined) notePayment(await tokens.take(userId, requests), response);
      const counters = countersOf(rateLimit, client);
      if (counters !== undefined) await take(timesOf(counters, requests), response);
    },
    tokenOf: (rateLimit, client, response) => {
      const userId = traderOf(rateLimit, client);
      if (userId === undefined) return undefined;
      let isDue = true;
      const taken = (payment: Payment): void => {
        isDue = false;
        notePayment(payment, response);
      };
      let taking: Promise<void> | undefined;
      return {
        taken,
        take: async (patienceMs) => {
          if (isDue) taking ??= tokens.take(userId, 1, patienceMs).then(taken);
          await taking;
        },
      };
    },
    countAttempt: take,
  };
}

/** The secret of a request, if it has one in the form of this kind. */
function secretOf(
  { read, prefixes }: Pick<Credential<unknown>, "read" | "prefixes">,
  request: Request,
): string | undefined {
  const secret = read(request);
  const isWellFormed =
    secret !== undefined && prefixes.some((prefix) => isWellFormedSecret(secret, prefix));
  return isWellFormed ? secret : undefined;
}

/** Says what is left of the windows of a request: draft-ietf-httpapi-ratelimit-headers. */
function describeWindows({ windows, retryAfterSeconds }: CountedRequest, response: Response): void {
  if (windows === null) return;
  const all = JSON.parse(windows) as RequestWindow[];
  const policies = all.map(({ bucket, quota, seconds }) => `"${bucket}";q=${quota};w=${seconds}`);
  const left = all.map(({ bucket, remaining }) => {
    const isOver = remaining === 0 && retryAfterSeconds !== null;
    return `"${bucket}";r=${remaining}${isOver ? `;t=${retryAfterSeconds}` : ""}`;
  });
  response.setHeader("RateLimit-Policy", policies.join(", "));
  response.setHeader("RateLimit", left.join(", "));
}

/** Says what is left in the token bucket of a trading request, and ends it if there was no token. */
function notePayment(payment: Payment, response: Response): void {
  const { burstCapacity, remaining, requestsPerMinute } = payment;
  if (requestsPerMinute !== null && burstCapacity !== null && remaining !== null) {
    response.setHeader("X-RateLimit-Limit", requestsPerMinute);
    response.setHeader("X-RateLimit-Burst", burstCapacity);
    response.setHeader("X-RateLimit-Remaining", remaining);
  }
  endIfTooMany(payment, response);
}

function endIfTooMany(
  { allowed, retryAfterSeconds }: Pick<Payment, "allowed" | "retryAfterSeconds">,
  response: Response,
): void {
  if (allowed === true) return;
  if (retryAfterSeconds === null) throw new ProblemError(tooManyAtOnce);
  response.setHeader("Retry-After", retryAfterSeconds);
  throw new ProblemError(rejection("TOO_MANY_REQUESTS"));
}

/** The user whose token bucket a request counts in: trading by an API key. */
function traderOf(rateLimit: RateLimit, { caller }: Client): string | undefined {
  const isTrading = rateLimit === "trading" && caller !== undefined && "apiKeyId" in caller;
  return isTrading ? caller.userId : undefined;
}

type Subjects = Partial<Record<keyof RequestCounters, string>>;

/** The rolling windows of one request, each with its address, user or member of staff. */
function countersOf(rateLimit: RateLimit, client: Client): Subjects | undefined {
  const { caller, address } = client;
  if (rateLimit === "none" || traderOf(rateLimit, client) !== undefined) return undefined;
  const staffId = staffIdOf(caller);
  // Others at the same address do not use up the requests of staff.
  if (staffId !== undefined) return { "v1-user": staffId };
  const id = userIdOf(caller);
  if (rateLimit === "stream") {
    return id === undefined
      ? { "sse:market": address }
      : { "sse:user": id, "sse:user-ip": address };
  }
  if (id === undefined) return { v1: address };
  if (rateLimit === "cancel-all") return { "v1-cancel-all": id };
  // Commands of the website's pages count as reads.
  return { "v1-auth": address, "v1-user": id };
}

function timesOf(subjects: Subjects, count: number): RequestCounters {
  if (count === 1) return subjects;
  return Object.fromEntries(
    Object.entries(subjects).map(([bucket, subject]) => [bucket, { subject, count }]),
  );
}
