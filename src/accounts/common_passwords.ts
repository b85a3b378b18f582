/**
 * The passwords that are tried first. Published lists of the most common ones are, at ten
 * characters and more, mostly a common word with a common ending, a word said twice, or a walk over
 * the keyboard: these rules make all of them, and several thousand more.
 */

const words = `
  password passwort passw0rd p@ssword p@ssw0rd pa55word qwerty qwertz azerty qwertyuiop qwertyui
  asdfghjkl asdfgh zxcvbnm zxcvbn abc abcd abcde abcdef abcdefg abcdefgh admin administrator root
  user guest login welcome letmein trustno1 iloveyou ilovey0u iloveu lovely love baby babygirl
  princess monkey dragon sunshine shadow master superman batman spiderman pokemon football baseball
  basketball soccer hockey liverpool chelsea arsenal barcelona michael michelle jennifer jessica
  charlie jordan daniel andrew anthony ashley nicole matthew joshua robert thomas george william
  summer winter spring autumn monday friday january february october november december freedom
  whatever computer internet samsung google facebook starwars mustang harley corvette ferrari mercedes
  porsche chocolate butterfly flower cookie pepper ginger cheese hello hallo secret changeme default
  test tester testing temp temporary access system server oracle killer hunter ranger falcon eagle
  tigger tiger diamond silver golden purple orange yellow blessed jesus christ angel heaven money
  company business market trading exchange casino poker bitcoin crypto player gamer minecraft fortnite
`;

const endings = `
  1 12 123 1234 12345 123456 1234567 12345678 123456789 1234567890 0 00 000 007 01 02 10 11 111 1111
  2 21 22 23 3 321 4321 54321 69 7 77 777 88 99 100 101 666 999 ! !! 1! 123! 1234! @123 @1234 # $ .
  1980 1985 1990 1995 1999 2000 2001 2005 2010 2011 2012 2013 2014 2015 2016 2017 2018 2019 2020 2021
  2022 2023 2024 2025 2026 2027 @2020 @2021 @2022 @2023 @2024 @2025 @2026 a abc xyz qwerty me you
`;

/** The rows of keyboards, and orders that everybody knows. */
const walks = [
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

const listOf = (text: string): string[] => text.trim().split(/\s+/);

/** All of them but the walks and what repeats itself. In lower case. */
export const commonPasswords = new Set(
  listOf(words).flatMap((word) => [word, ...listOf(endings).map((ending) => word + ending)]),
);

/** Whether a password is one of those that everybody tries, whatever its case. */
export function isCommon(password: string): boolean {
  const text = password.toLowerCase();
  return (
    commonPasswords.has(text) ||
    isRepetition(text) ||
    isTwice(text) ||
    walks.some((walk) => walk.includes(text))
  );
}

/** The same one to six characters again and again, the last time perhaps in part. */
function isRepetition(text: string): boolean {
  for (let length = 1; length <= 6; length++) {
    const piece = text.slice(0, length);
    if (piece.repeat(Math.ceil(text.length / length)).startsWith(text)) return true;
  }
  return false;
}

/** Something common said twice. */
function isTwice(text: string): boolean {
  const half = text.slice(0, text.length / 2);
  return half + half === text && commonPasswords.has(half);
}
