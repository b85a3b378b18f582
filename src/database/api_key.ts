import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * A trader's API key, an analyst's or an operator's key, a session's cookie (js_, or jh_ under
 * https), a session's token, or the token of a link in a mail.
 */
export type SecretPrefix = "jk_" | "ja_" | "jo_" | "js_" | "jh_" | "jt_" | "jl_";

const PREFIX_LENGTH = 3;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const keyPattern = /^j[ahklost]_[0-9A-Za-z]{49}$/;

/**
 * Whether this has the form of an API key or another secret: the prefix, 43 characters of secret,
 * and 6 of checksum (CRC-32), all in base62. Finds typing errors without a query.
 */
export function isWellFormedApiKey(key: string, prefix: SecretPrefix = "jk_"): boolean {
  if (!key.startsWith(prefix) || !keyPattern.test(key)) return false;
  const split = PREFIX_LENGTH + SECRET_LENGTH;
  return key.slice(split) === checksumOf(key.slice(0, split));
}

/** What the database stores of a key: its SHA-256. */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** The API key with this secret of 32 bytes, as the database makes it. */
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
