import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * What a secret is good for: a trader's API key, an analyst's or an operator's key, the cookie of a
 * session (js_, or jh_ under https), a token of a session, or a link in a mail.
 */
export type SecretPrefix = "jk_" | "ja_" | "jo_" | "js_" | "jh_" | "jt_" | "jl_";

const PREFIX_LENGTH = 3;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const keyPattern = /^j[ahklost]_[0-9A-Za-z]{49}$/;

/**
 * Whether this can be an API key (or what else the prefix says) at all: the prefix, 43 characters
 * of secret, and 6 that check the rest (its CRC-32), all in base62. Tells typing errors and
 * garbage from keys without a query.
 */
export function isWellFormedApiKey(key: string, prefix: SecretPrefix = "jk_"): boolean {
  if (!key.startsWith(prefix) || !keyPattern.test(key)) return false;
  const split = PREFIX_LENGTH + SECRET_LENGTH;
  return key.slice(split) === checksumOf(key.slice(0, split));
}

/** What the database knows of a key: its SHA-256. */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** The API key with this secret of 32 bytes. The database makes them just so. */
export function formatApiKey(secret: Buffer, prefix: SecretPrefix = "jk_"): string {
  if (secret.length !== SECRET_BYTES) throw new RangeError(`A key has ${SECRET_BYTES} bytes`);
  const secretValue = BigInt(`0x${secret.toString("hex")}`);
  const start = prefix + toBase62(secretValue, SECRET_LENGTH);
  return start + checksumOf(start);
}

function checksumOf(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; rest > 0n; rest /= 62n) {
    digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
  }
  return digits.padStart(length, "0");
}
