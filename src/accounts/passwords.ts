import { argon2, randomBytes } from "node:crypto";
import { DatabaseFailure } from "../database/failures.ts";
import { normalForm } from "./normal_form.ts";

/**
 * Passwords are hashed here, by argon2id, and compared in the database. A hash is text in PHC form,
 * `$argon2id$v=19$m=...,t=...,p=...$salt$digest`; its settings are all before the digest.
 */

/** The settings of new hashes, without a salt: 19 MiB and two passes, as OWASP advises. */
export const standardSettings = "$argon2id$v=19$m=19456,t=2,p=1";

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
/** Hashes under way at once in a process: each takes memory and a thread. */
const MOST_AT_ONCE = 2;
/** Further requests of a kind are rejected as overload: each would wait for all before it. */
const MOST_WAITING = 100;
/** Of so many turns one is for strangers, if some wait: a known user may be one who attacks. */
const TURNS_TO_SHARE = 4;

/** The settings of a new hash, with a salt of its own. */
export function newSettings(): string {
  return `${standardSettings}$${toBase64(randomBytes(SALT_BYTES))}`;
}

/** Whether a hash with these settings is as new ones are. */
export function isStandard(settings: string): boolean {
  return settings.startsWith(`${standardSettings}$`);
}

/** For whom a password is hashed. */
interface HashOptions {
  /** Who has a session, a link, or the mark of a browser: passes strangers, however many wait. */
  isKnown?: boolean;
}

/** The hash of a password by these settings. */
export async function hashPassword(
  password: string,
  settings: string,
  { isKnown = false }: HashOptions = {},
): Promise<string> {
  const { memory, passes, parallelism, salt } = readSettings(settings);
  const message = normalForm(password);
  const digest = await inTurn(
    isKnown ? "known" : "strangers",
    () =>
      new Promise<Buffer>((resolve, reject) => {
        argon2(
          "argon2id",
          { message, nonce: salt, memory, passes, parallelism, tagLength: DIGEST_BYTES },
          (error, result) => {
            if (error === null) resolve(result);
            else reject(error);
          },
        );
      }),
  );
  return `${settings}$${toBase64(digest)}`;
}

function readSettings(settings: string) {
  const pattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)$/;
  const [, memory, passes, parallelism, salt] = pattern.exec(settings) ?? [];
  if (salt === undefined) throw new TypeError("These are no settings of a hash");
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, "base64"),
  };
}

/** PHC form has no padding. */
function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

let running = 0;
let turns = 0;
const waiting = { known: [] as (() => void)[], strangers: [] as (() => void)[] };

async function inTurn<Result>(
  kind: keyof typeof waiting,
  work: () => Promise<Result>,
): Promise<Result> {
  if (running >= MOST_AT_ONCE) {
    if (waiting[kind].length >= MOST_WAITING) throw new DatabaseFailure("overloaded");
    // A hash that is done hands its place over.
    await new Promise<void>((resolve) => waiting[kind].push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = takeNext();
    if (next === undefined) running -= 1;
    else next();
  }
}

/** Who waits and is next. */
function takeNext(): (() => void) | undefined {
  turns = (turns + 1) % TURNS_TO_SHARE;
  const { known, strangers } = waiting;
  return turns === 0 ? (strangers.shift() ?? known.shift()) : (known.shift() ?? strangers.shift());
}
