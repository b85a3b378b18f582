import type { Request, Response } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { call, callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { Caller, KeyCaller, SessionCaller, Staff } from "../database/calls.ts";
import { gatherCalls } from "../database/gathered_calls.ts";
import { isWellFormedSecret, sha256Of } from "../secrets.ts";
import { singleFlightByKey } from "../single_flight.ts";

export interface AuthenticatorOptions {
  pool: Pool;
  logger: Logger;
  /** How long a key counts as valid at most, after the database confirmed it. */
  validForMs?: number;
  /** Keys remembered at most. */
  keyCap?: number;
}

/** The caller with the session of a member of staff. */
export interface StaffCaller {
  staffId: string;
  sessionId: string;
  name: string;
  email: string;
  roles: string[];
  /** The SHA-256 of the session's cookie. */
  cookieHash: Buffer;
}

/**
 * Finds out who calls. Undefined is for unknown, revoked and expired secrets, and for keys that are
 * not valid at the address.
 */
export interface Authenticator {
  /** The caller with this API key, used from this address, or with this session's token. */
  callerOf: (token: string, address: string | undefined) => Promise<Caller | undefined>;
  /** The caller with this session's token, and no API key. */
  callerOfToken: (token: string) => Promise<SessionCaller | undefined>;
  /** The caller with this session cookie. */
  callerOfCookie: (cookie: string) => Promise<SessionCaller | undefined>;
  /** The member of staff with this session cookie. */
  callerOfStaffCookie: (cookie: string) => Promise<StaffCaller | undefined>;
  /** The holder of this staff key. */
  staffOf: (key: string) => Promise<Staff | undefined>;
  /** The next request with this key asks the database, as after its revocation. */
  forget: (apiKeyId: string) => void;
  /** The next request with any key asks the database. */
  forgetAll: () => void;
}

/** A key at one address. */
interface Remembered {
  caller: KeyCaller;
  until: number;
}

const DEFAULT_VALID_FOR_MS = 5000;
const DEFAULT_KEY_CAP = 10_000;
/** Addresses remembered of a key at most: a key that is used from many is looked up more often. */
const ADDRESS_CAP = 8;
/** Of a SHA-256, each byte as a character. */
const NAME_LENGTH = 32;
const USE_RECORDED_EVERY_MS = 60_000;

/**
 * Remembers for a few seconds which keys of traders are valid, each with the addresses at which it was
 * used, and not beyond the key's expiry. Other keys are looked up each time, so a new key works at
 * once. So are sessions and keys of staff, so their end takes effect at once. Look-ups share calls:
 * anybody can cause them, before a request is counted.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const lookUp = createLookUp(options.pool);
  const validForMs = options.validForMs ?? DEFAULT_VALID_FOR_MS;
  const keyCap = options.keyCap ?? DEFAULT_KEY_CAP;
  const remembered = new Map<string, Map<string, Remembered>>();
  const noteUse = createUseRecorder(options);
  /** Requests with one key from one address at the same time share a look-up. */
  const askOnce = singleFlightByKey((nameAndAddress) =>
    ask(nameAndAddress.slice(0, NAME_LENGTH), nameAndAddress.slice(NAME_LENGTH)),
  );
  // An answer to a call that began before something was forgotten is not remembered.
  let forgotten = 0;

  async function callerOf(token: string, address: string | undefined): Promise<Caller | undefined> {
    if (isWellFormedSecret(token, "jt_")) return await callerOfToken(token);
    return isWellFormedSecret(token, "jk_") ? await callerOfKey(token, address ?? "") : undefined;
  }

  const callerOfToken = (token: string) => lookUp<SessionCaller>("token", sha256Of(token));
  const callerOfCookie = (cookie: string) => lookUp<SessionCaller>("cookie", sha256Of(cookie));

  async function callerOfStaffCookie(cookie: string): Promise<StaffCaller | undefined> {
    const cookieHash = sha256Of(cookie);
    const found = await lookUp<Omit<StaffCaller, "cookieHash">>("staff_cookie", cookieHash);
    return found && { ...found, cookieHash };
  }

  async function staffOf(key: string): Promise<Staff | undefined> {
    const keyHash = sha256Of(key);
    const found = await lookUp<Omit<Staff, "keyHash">>("staff", keyHash);
    return found && { ...found, keyHash };
  }

  async function callerOfKey(apiKey: string, address: string): Promise<KeyCaller | undefined> {
    const name = sha256Of(apiKey).toString("latin1");
    const known = remembered.get(name)?.get(address);
    const isValid = known !== undefined && performance.now() < known.until;
    const caller = isValid ? known.caller : await askOnce(name + address);
    if (caller !== undefined) noteUse(caller.apiKeyId, addressOrNull(address));
    return caller;
  }

  async function ask(name: string, address: string): Promise<KeyCaller | undefined> {
    const forgottenBefore = forgotten;
    const askedAt = performance.now();
    const keyHash = Buffer.from(name, "latin1");
    const found = await lookUp<FoundKey>("key", keyHash, addressOrNull(address));
    const addresses = remembered.get(name) ?? new Map<string, Remembered>();
    addresses.delete(address);
    if (found === undefined) return undefined;
    const { validForMs: foundForMs, ...caller } = found;
    if (forgotten === forgottenBefore) {
      dropOldest(addresses, ADDRESS_CAP - 1);
      addresses.set(address, { caller, until: askedAt + Math.min(validForMs, foundForMs) });
      remembered.delete(name);
      dropOldest(remembered, keyCap - 1);
      remembered.set(name, addresses);
    }
    return caller;
  }

  function forget(apiKeyId: string): void {
    forgotten++;
    for (const [name, addresses] of remembered) {
      const [first] = addresses.values();
      if (first === undefined || first.caller.apiKeyId === apiKeyId) remembered.delete(name);
    }
  }

  function forgetAll(): void {
    forgotten++;
    remembered.clear();
  }

  return {
    ...{ callerOf, callerOfToken, callerOfCookie, callerOfStaffCookie, staffOf },
    ...{ forget, forgetAll },
  };
}

/** The kinds of secrets, as api.authenticate names them. */
type SecretKind = "key" | "token" | "cookie" | "staff" | "staff_cookie";

/** `validForMs`: how long the answer may be remembered. */
type FoundKey = KeyCaller & { validForMs: number };

/** Finds the holder of a secret of this kind by its hash. */
type LookUp = <Holder>(
  kind: SecretKind,
  hash: Buffer,
  detail?: string | null,
) => Promise<Holder | undefined>;

function createLookUp(pool: Pool): LookUp {
  const find = gatherCalls<
    { kind: SecretKind; hash: Buffer; detail: string | null },
    string | null
  >({
    pool,
    ask: (client, secrets) =>
      call(client, api.authenticate, {
        kinds: secrets.map(({ kind }) => kind),
        hashes: secrets.map(({ hash }) => hash),
        details: secrets.map(({ detail }) => detail),
      }),
  });
  return async <Holder>(kind: SecretKind, hash: Buffer, detail: string | null = null) => {
    const found = await find({ kind, hash, detail });
    return found === null ? undefined : (JSON.parse(found) as Holder);
  };
}

type UseRecorder = (apiKeyId: string, address: string | null) => void;

/** Records the use of a key and its address, at most once a minute. No request waits for it. */
function createUseRecorder(options: AuthenticatorOptions): UseRecorder {
  const { pool, logger } = options;
  const { noteKeyUse } = callsOn(pool, api);
  const keyCap = options.keyCap ?? DEFAULT_KEY_CAP;
  const recordedAt = new Map<string, number>();

  return (apiKeyId, address) => {
    const now = performance.now();
    const last = recordedAt.get(apiKeyId);
    if (last !== undefined && now - last < USE_RECORDED_EVERY_MS) return;
    recordedAt.delete(apiKeyId);
    dropOldest(recordedAt, keyCap - 1);
    recordedAt.set(apiKeyId, now);
    noteKeyUse({ apiKeyId, address }).catch((error: unknown) => {
      logger.warn({ error, apiKeyId }, "the use of a key was not recorded");
    });
  };
}

const addressOrNull = (address: string): string | null => (address === "" ? null : address);

/** A map keeps the order in which its keys came. */
function dropOldest(from: Map<string, unknown>, keep: number): void {
  for (const key of from.keys()) {
    if (from.size <= keep) return;
    from.delete(key);
  }
}

/** The API key or session's token of the header `Authorization: Bearer`. */
export function tokenOf(request: Pick<Request, "headers">): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

type Identified = Caller | StaffCaller | Staff;

/** Notes the caller, for the log. */
export function setCaller(response: Response, caller: Identified): void {
  response.locals.caller = caller;
}

/** The caller, if the route identified one. */
export function callerOf(response: Response): Identified | undefined {
  return response.locals.caller as Identified | undefined;
}

/** The user who calls, if it is one. */
export function userIdOf(caller: Identified | undefined): string | undefined {
  return caller !== undefined && "userId" in caller ? caller.userId : undefined;
}

/** The member of staff who calls, if it is one. */
export function staffIdOf(caller: Identified | undefined): string | undefined {
  return caller !== undefined && "staffId" in caller ? caller.staffId : undefined;
}

/** The staff key by which a program calls, if it is one. */
export function staffKeyIdOf(caller: Identified | undefined): string | undefined {
  return caller !== undefined && "staffKeyId" in caller ? caller.staffKeyId : undefined;
}
