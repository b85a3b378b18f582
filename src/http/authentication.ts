import type { Request, Response } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { singleFlightByKey } from "../single_flight.ts";
import { callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { Caller, KeyCaller, SessionCaller, Staff } from "../database/calls.ts";
import { hashApiKey, isWellFormedApiKey } from "./api_key.ts";

export interface AuthenticatorOptions {
  pool: Pool;
  logger: Logger;
  /** How long a key counts as valid after the database said so. */
  validForMs?: number;
  /** Keys remembered at most. */
  keyCap?: number;
}

/** Says who calls. */
export interface Authenticator {
  /** Who brings this API key or session's token; undefined for what is neither (any more). */
  callerOf: (token: string) => Promise<Caller | undefined>;
  /** Whose session this token was made for; undefined for what is none (any more). */
  callerOfToken: (token: string) => Promise<SessionCaller | undefined>;
  /** Whose browser brings this session cookie; undefined for what is none (any more). */
  callerOfCookie: (cookie: string) => Promise<SessionCaller | undefined>;
  /** Whose staff key this is; undefined for what is none (any more). */
  staffOf: (key: string) => Promise<Staff | undefined>;
  /** Ask the database about this key the next time, as when it was revoked. */
  forget: (apiKeyId: string) => void;
  /** Ask the database about every key the next time. */
  forgetAll: () => void;
}

interface Remembered {
  caller: KeyCaller;
  until: number;
}

const DEFAULT_VALID_FOR_MS = 5000;
const DEFAULT_KEY_CAP = 10_000;
const USE_RECORDED_EVERY_MS = 60_000;

/**
 * Remembers for a few seconds which keys of traders are valid. What is not a key is asked for each
 * time, so a new key works at once; and so are sessions and the keys of staff, so that logging out
 * and revoking hold at once.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const calls = callsOn(options.pool, api);
  const validForMs = options.validForMs ?? DEFAULT_VALID_FOR_MS;
  const keyCap = options.keyCap ?? DEFAULT_KEY_CAP;
  const remembered = new Map<string, Remembered>();
  const noteUse = createUseRecorder(options);
  /** Requests that come with the same key at the same time share one question. */
  const askOnce = singleFlightByKey(ask);
  // Answers to questions that were asked before something was forgotten are not remembered.
  let forgotten = 0;

  async function callerOf(token: string): Promise<Caller | undefined> {
    if (isWellFormedApiKey(token, "jt_")) return await callerOfToken(token);
    return isWellFormedApiKey(token) ? await callerOfKey(token) : undefined;
  }

  async function callerOfToken(token: string): Promise<SessionCaller | undefined> {
    return await calls.authenticateSessionToken({ tokenHash: hashApiKey(token) });
  }

  async function callerOfCookie(cookie: string): Promise<SessionCaller | undefined> {
    return await calls.authenticateSession({ cookieHash: hashApiKey(cookie) });
  }

  async function staffOf(key: string): Promise<Staff | undefined> {
    return await calls.authenticateStaffKey({ keyHash: hashApiKey(key) });
  }

  async function callerOfKey(apiKey: string): Promise<KeyCaller | undefined> {
    const name = hashApiKey(apiKey).toString("latin1");
    const known = remembered.get(name);
    const caller =
      known !== undefined && known.until > Date.now() ? known.caller : await askOnce(name);
    if (caller !== undefined) noteUse(caller.apiKeyId);
    return caller;
  }

  async function ask(name: string): Promise<KeyCaller | undefined> {
    const forgottenBefore = forgotten;
    const caller = await calls.authenticate({ keyHash: Buffer.from(name, "latin1") });
    remembered.delete(name);
    if (caller !== undefined && forgotten === forgottenBefore) {
      dropOldest(remembered, keyCap - 1);
      remembered.set(name, { caller, until: Date.now() + validForMs });
    }
    return caller;
  }

  function forget(apiKeyId: string): void {
    forgotten++;
    for (const [name, { caller }] of remembered) {
      if (caller.apiKeyId === apiKeyId) remembered.delete(name);
    }
  }

  function forgetAll(): void {
    forgotten++;
    remembered.clear();
  }

  return { callerOf, callerOfToken, callerOfCookie, staffOf, forget, forgetAll };
}

/** Tells the database of a key's use, once a minute and without anybody waiting for it. */
function createUseRecorder(options: AuthenticatorOptions): (apiKeyId: string) => void {
  const { pool, logger } = options;
  const { recordKeyUse } = callsOn(pool, api);
  const keyCap = options.keyCap ?? DEFAULT_KEY_CAP;
  const recordedAt = new Map<string, number>();

  return (apiKeyId) => {
    const now = Date.now();
    const last = recordedAt.get(apiKeyId);
    if (last !== undefined && now - last < USE_RECORDED_EVERY_MS) return;
    recordedAt.delete(apiKeyId);
    dropOldest(recordedAt, keyCap - 1);
    recordedAt.set(apiKeyId, now);
    recordKeyUse({ apiKeyId }).catch((error: unknown) => {
      logger.warn({ error, apiKeyId }, "the use of a key was not recorded");
    });
  };
}

/** A map keeps the order in which its keys came. */
function dropOldest(map: Map<string, unknown>, keep: number): void {
  for (const key of map.keys()) {
    if (map.size <= keep) return;
    map.delete(key);
  }
}

/** What the request brings as `Authorization: Bearer <API key or session's token>`. */
export function tokenOf(request: Pick<Request, "headers">): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** Notes who calls, for the log. */
export function setCaller(response: Response, caller: Caller): void {
  response.locals.caller = caller;
}

/** Who calls, if that was asked for. */
export function callerOf(response: Response): Caller | undefined {
  return response.locals.caller as Caller | undefined;
}
