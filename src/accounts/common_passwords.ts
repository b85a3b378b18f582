import frequencyLists from "zxcvbn/lib/frequency_lists.js";
import { MOST_TO_NORMALIZE, normalForm } from "./normal_form.ts";

/**
 * The most common passwords, which an attacker tries first. The list is that of zxcvbn (MIT): 30,000
 * passwords of leaked accounts, the most frequent first, in lower case.
 */

/** Size of each of the two lists. */
const MOST_COMMON = 1000;
/** The fewest characters of a password. */
export const FEWEST_CHARACTERS = 10;

const { passwords } = frequencyLists;

/** The thousand most common ones that are long enough to be given. */
export const commonPasswords = new Set(
  passwords.filter(({ length }) => length >= FEWEST_CHARACTERS).slice(0, MOST_COMMON),
);

/** The thousand most common ones of any length: with an ending, many of them are long enough. */
const commonStems = new Set(passwords.slice(0, MOST_COMMON));

/** A few digits or signs behind a word, such as a year. */
const ending = /[0-9!?.@#$%&*_+-]{1,5}$/;

/** Rows of keys, forwards and backwards. */
const rows = [
  "12345678901234567890",
  "09876543210987654321",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
  "azertyuiopqsdfghjklmwxcvbn",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "zaq12wsxcde34rfvbgt56yhn",
  "qazwsxedcrfvtgbyhnujmikolp",
  "abcdefghijklmnopqrstuvwxyz",
  "mnbvcxzlkjhgfdsapoiuytrewq",
  "147258369147258369",
  "741852963741852963",
  "789456123789456123",
  "102030405060708090",
];

/** Whether a password is one of the most common ones, in any case, or differs little from one. */
export function isCommon(password: string): boolean {
  const text = asCompared(password);
  return (
    commonPasswords.has(text) ||
    commonStems.has(text.replace(ending, "")) ||
    isRepetition(text) ||
    isTwice(text) ||
    rows.some((row) => row.includes(text))
  );
}

/** Shorter names are in many passwords by chance. */
const SHORTEST_NAME = 5;
/** So much besides a name is not guessed with it. */
const FEWEST_OTHER_CHARACTERS = 6;

/**
 * Whether a password has little besides the e-mail address of its account, the part of that before
 * the @, or the handle.
 */
export function isLikeAccount(
  password: string,
  { email, handle = "" }: { email: string; handle?: string | undefined },
): boolean {
  // What is longer is in no password.
  const names = [email, email.replace(/@.*/, ""), handle]
    .filter(({ length }) => length <= MOST_TO_NORMALIZE)
    .map(asCompared);
  let rest = asCompared(password);
  for (const name of names) if (name.length >= SHORTEST_NAME) rest = rest.replaceAll(name, "");
  return rest !== asCompared(password) && rest.length < FEWEST_OTHER_CHARACTERS;
}

/** As it is hashed, but for case. */
function asCompared(text: string): string {
  return normalForm(text).toLowerCase();
}

/** The same one to six characters again and again, the last time perhaps in part. */
function isRepetition(text: string): boolean {
  for (let length = 1; length <= 6; length++) {
    const piece = text.slice(0, length);
    if (piece.repeat(Math.ceil(text.length / length)).startsWith(text)) return true;
  }
  return false;
}

/** A common password twice. */
function isTwice(text: string): boolean {
  const half = text.slice(0, text.length / 2);
  return half + half === text && commonStems.has(half);
}
