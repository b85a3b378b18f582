import type { RequestHandler, Response } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { authenticate, recordKeyUse } from "../database/api.ts";
import type { Caller } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { ProblemError, refusal } from "../errors.ts";
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
  /** Who the key belongs to; undefined for one that is none (any more). */
  callerOf: (apiKey: string) => Promise<Caller | undefined>;
  /** Ask the database about this key the next time, as when it was revoked. */
  forget: (apiKeyId: string) => void;
  /** Ask the database about every key the next time. */
  forgetAll: () => void;
}

interface Remembered {
  caller: Caller;
  until: number;
}

const DEFAULT_VALID_FOR_MS = 5000;
const DEFAULT_KEY_CAP = 10_000;
const USE_RECORDED_EVERY_MS = 60_000;

/**
 * Remembers for a few seconds which keys are valid. What is not a key is asked for each time, so a
 * new key works at once.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { pool } = options;
  const validForMs = options.validForMs ?? DEFAULT_VALID_FOR_MS;
  const keyCap = options.keyCap ?? DEFAULT_KEY_CAP;
  const remembered = new Map<string, Remembered>();
  const asking = new Map<string, Promise<Caller | undefined>>();
  const noteUse = createUseRecorder(options);
  // Answers to questions that were asked before something was forgotten are not remembered.
  let forgotten = 0;

  async function callerOf(apiKey: string): Promise<Caller | undefined> {
    if (!isWellFormedApiKey(apiKey)) return undefined;
    const keyHash = hashApiKey(apiKey);
    const name = keyHash.toString("latin1");
    const known = remembered.get(name);
    const caller =
      known !== undefined && known.until > Date.now() ? known.caller : await askOnce(name, keyHash);
    if (caller !== undefined) noteUse(caller.apiKeyId);
    return caller;
  }

  /** Requests that come with the same key at the same time share one question. */
  function askOnce(name: string, keyHash: Buffer): Promise<Caller | undefined> {
    const current = asking.get(name);
    if (current !== undefined) return current;
    const question = ask(name, keyHash).finally(() => asking.delete(name));
    asking.set(name, question);
    return question;
  }

  async function ask(name: string, keyHash: Buffer): Promise<Caller | undefined> {
    const forgottenBefore = forgotten;
    const caller = await withRetries(pool, (client) => authenticate(client, keyHash), {
      repeatable: true,
    });
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

  return { callerOf, forget, forgetAll };
}

/** Tells the database of a key's use, once a minute and without anybody waiting for it. */
function createUseRecorder(options: AuthenticatorOptions): (apiKeyId: string) => void {
  const { pool, logger } = options;
  const keyCap = options.keyCap ?? DEFAULT_KEY_CAP;
  const recordedAt = new Map<string, number>();

  return (apiKeyId) => {
    const now = Date.now();
    const last = recordedAt.get(apiKeyId);
    if (last !== undefined && now - last < USE_RECORDED_EVERY_MS) return;
    recordedAt.delete(apiKeyId);
    dropOldest(recordedAt, keyCap - 1);
    recordedAt.set(apiKeyId, now);
    withRetries(pool, (client) => recordKeyUse(client, apiKeyId), { repeatable: true }).catch(
      (error: unknown) => {
        logger.warn({ error, apiKeyId }, "the use of a key was not recorded");
      },
    );
  };
}

/** A map keeps the order in which its keys came. */
function dropOldest(map: Map<string, unknown>, keep: number): void {
  for (const key of map.keys()) {
    if (map.size <= keep) return;
    map.delete(key);
  }
}

/** Lets only those pass who bring a valid `Authorization: Bearer <API key>`. */
export function requireApiKey(authenticator: Authenticator): RequestHandler {
  return async (request, response, next) => {
    const [, apiKey] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "") ?? [];
    const caller = apiKey === undefined ? undefined : await authenticator.callerOf(apiKey);
    if (caller === undefined) throw new ProblemError(refusal("UNAUTHORIZED"));
    response.locals.caller = caller;
    next();
  };
}

/** Who calls, if that was asked for. */
export function callerOf(response: Response): Caller | undefined {
  return response.locals.caller as Caller | undefined;
}

/** The user who calls, on a route behind {@link requireApiKey}. */
export function userIdOf(response: Response): string {
  const caller = callerOf(response);
  if (caller === undefined) throw new Error("This route is not behind requireApiKey");
  return caller.userId;
}
