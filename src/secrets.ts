import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The kinds of secrets that identify their holder, by what they begin with: a trader's API key, an
 * analyst's or an operator's key, a session's cookie (js_, or jh_ under https; of staff jf_), a
 * session's token, and the token of a link in a mail.
 */
export type SecretPrefix = "jk_" | "ja_" | "jo_" | "js_" | "jh_" | "jf_" | "jt_" | "jl_";

const PREFIX_LENGTH = 3;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const pattern = /^j[afhklost]_[0-9A-Za-z]{49}$/;

/**
 * Whether this has the form of a secret of this kind: the prefix, 43 characters of secret, and 6 of
 * checksum (CRC-32), all in base62. Finds typing errors without a query.
 */
export function isWellFormedSecret(text: string, prefix: SecretPrefix): boolean {
  if (!text.startsWith(prefix) || !pattern.test(text)) return false;
  const split = PREFIX_LENGTH + SECRET_LENGTH;
  return text.slice(split) === checksumOf(text.slice(0, split));
}

/** The SHA-256 of a text in UTF-8. Of a secret, the database stores only this. */
export function sha256Of(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** The text of a secret with these 32 bytes, as the database makes it. */
export function formatSecret(bytes: Buffer, prefix: SecretPrefix): string {
  if (bytes.length !== SECRET_BYTES) throw new RangeError(`A secret has ${SECRET_BYTES} bytes`);
  const value = BigInt(`0x${bytes.toString("hex")}`);
  const start = prefix + toBase62(value, SECRET_LENGTH);
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
