import type { NextFunction, Request, Response } from "express";
import type {
  Caller,
  CountedSubject,
  RequestCounters,
  Staff,
  StaffRole,
} from "../database/calls.ts";
import { beforeAnything } from "../database/failures.ts";
import { invalidRequest, ProblemError, refusal } from "../errors.ts";
import { isWellFormedApiKey } from "./api_key.ts";
import type { SecretPrefix } from "./api_key.ts";
import { setCaller, sessionCookieOf, tokenOf } from "./authentication.ts";
import type { Authenticator } from "./authentication.ts";
import { clientAddressOf } from "./client_address.ts";
import { looseBatchSchema } from "../schemas/orders.ts";
import { readJson } from "./json_body.ts";
import type { RequestLimiter } from "./request_limiter.ts";
import { setStaff, staffPrefixes } from "./staff.ts";

/** A handler that lets a request of whatever route pass, or throws what ends it. */
export type Gate = <Parameters>(
  request: Request<Parameters>,
  response: Response,
  next: NextFunction,
) => Promise<void>;

/**
 * Who may come in, and how often, for each kind of route: the first handler of every route of the
 * interface. Who calls comes first, then the limits, then what the request says.
 */
export interface Access {
  /** Anybody reads: v1. */
  publicRead: Gate;
  /** The caller reads what is theirs: v1-auth and v1-user. */
  accountRead: Gate;
  /** The caller changes orders or positions: v1-trading for a key, else as for a read. */
  command: Gate;
  /** The same once for each order of the JSON body, which it reads. */
  orderBatch: Gate;
  /** A page of the website, known by the cookie of its session: v1-auth and v1-user. */
  sessionRead: Gate;
  /** Anybody opens the stream of a market: sse:market. */
  marketStream: Gate;
  /** The caller opens the stream of their account: sse:user and sse:user-ip. */
  userStream: Gate;
  /** The same for a page of the website, since EventSource can't send a token. */
  sessionUserStream: Gate;
  /** Those with a staff key of this role; only wrong keys are counted, as v1-auth. */
  staff: Record<StaffRole, Gate>;
}

export interface AccessOptions {
  authenticator: Authenticator;
  limiter: RequestLimiter;
}

/** By what somebody makes themselves known. */
interface Credential<Known> {
  read: (request: Pick<Request, "headers">) => string | undefined;
  prefixes: SecretPrefix[];
  holderOf: (secret: string) => Promise<Known | undefined>;
}

/** Waiting does not help a batch that asks for more than there ever is room for. */
const tooManyAtOnce = invalidRequest([
  { path: "orders", message: "must be at most as many as the rate limit allows at once" },
]);

/** The gates of one process. */
export function makeAccess({ authenticator, limiter }: AccessOptions): Access {
  const token: Credential<Caller> = {
    read: tokenOf,
    prefixes: ["jk_", "jt_"],
    holderOf: authenticator.callerOf,
  };
  const cookie: Credential<Caller> = {
    read: sessionCookieOf,
    prefixes: ["js_"],
    holderOf: authenticator.callerOfCookie,
  };

  const count = counterOf(limiter);

  async function identify<Known>(
    { read, prefixes, holderOf }: Credential<Known>,
    request: Pick<Request, "headers" | "ip">,
    response: Response,
  ): Promise<Known> {
    const secret = read(request);
    if (secret === undefined || !prefixes.some((prefix) => isWellFormedApiKey(secret, prefix))) {
      // Told without asking the database anything, so there is nothing to limit.
      throw new ProblemError(refusal("UNAUTHORIZED"));
    }
    const holder = await holderOf(secret).catch((error: unknown) => {
      throw beforeAnything(error);
    });
    if (holder === undefined) {
      await count(response, { "v1-auth": clientAddressOf(request) });
      throw new ProblemError(refusal("UNAUTHORIZED"));
    }
    return holder;
  }

  const anybody =
    (bucket: "v1" | "sse:market"): Gate =>
    async (request, response, next) => {
      await count(response, { [bucket]: clientAddressOf(request) });
      next();
    };

  const caller =
    (
      credential: Credential<Caller>,
      countersOf: (caller: Caller, address: string) => RequestCounters,
    ): Gate =>
    async (request, response, next) => {
      const known = await identify(credential, request, response);
      setCaller(response, known);
      await count(response, countersOf(known, clientAddressOf(request)));
      next();
    };

  const orderBatch: Gate = async (request, response, next) => {
    const known = await identify(token, request, response);
    setCaller(response, known);
    const problem = await readJson(request as Request, response);
    const counters = countersOfCommand(known, clientAddressOf(request));
    await count(response, timesOf(counters, countOrders(request.body)));
    next(problem);
  };

  const staff = (role: StaffRole): Gate => {
    const key: Credential<Staff> = {
      read: tokenOf,
      prefixes: [staffPrefixes[role]],
      holderOf: authenticator.staffOf,
    };
    return async (request, response, next) => {
      const known = await identify(key, request, response);
      if (known.role !== role) throw new ProblemError(refusal("UNAUTHORIZED"));
      setStaff(response, known);
      next();
    };
  };

  return {
    publicRead: anybody("v1"),
    accountRead: caller(token, countersOfRead),
    command: caller(token, countersOfCommand),
    orderBatch,
    sessionRead: caller(cookie, countersOfRead),
    marketStream: anybody("sse:market"),
    userStream: caller(token, countersOfStream),
    sessionUserStream: caller(cookie, countersOfStream),
    staff: { analyst: staff("analyst"), operator: staff("operator") },
  };
}

/** Counts a request and tells the caller what is left, or ends the request. */
function counterOf(
  limiter: RequestLimiter,
): (response: Response, counters: RequestCounters) => Promise<void> {
  return async (response, counters) => {
    const { allowed, burstCapacity, remaining, requestsPerMinute, retryAfterSeconds } =
      await limiter.take(counters);
    // Those of the caller's policy, where v1-trading was asked.
    if (requestsPerMinute !== null && burstCapacity !== null && remaining !== null) {
      response.setHeader("X-RateLimit-Limit", requestsPerMinute);
      response.setHeader("X-RateLimit-Burst", burstCapacity);
      response.setHeader("X-RateLimit-Remaining", remaining);
    }
    if (allowed) return;
    if (retryAfterSeconds === null) throw new ProblemError(tooManyAtOnce);
    response.setHeader("Retry-After", retryAfterSeconds);
    throw new ProblemError(refusal("TOO_MANY_REQUESTS"));
  };
}

function countersOfRead({ userId }: Caller, address: string): RequestCounters {
  return { "v1-auth": address, "v1-user": userId };
}

function countersOfCommand(caller: Caller, address: string): RequestCounters {
  return "apiKeyId" in caller ? { "v1-trading": caller.userId } : countersOfRead(caller, address);
}

/** A body that is no batch, or could not be read, counts once, as any command does. */
function countOrders(body: unknown): number {
  const { success, data } = looseBatchSchema.safeParse(body);
  return success ? data.orders.length : 1;
}

function timesOf(counters: Record<string, CountedSubject>, count: number): RequestCounters {
  if (count === 1) return counters;
  return Object.fromEntries(
    Object.entries(counters).map(([bucket, subject]) => [bucket, { subject, count }]),
  );
}

function countersOfStream({ userId }: Caller, address: string): RequestCounters {
  return { "sse:user": userId, "sse:user-ip": address };
}
