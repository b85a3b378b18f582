import { createHash, randomBytes } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import { formatApiKey, hashApiKey, isWellFormedApiKey } from "../../src/database/api_key.ts";

// Worked out by other means.
const zeroKey = "jk_00000000000000000000000000000000000000000001NfWv1";
const fullKey = "jk_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp147S8hD";

test("every secret makes a well-formed key of 52 characters", (t) => {
  const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
  t.notThrows(() => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const key = formatApiKey(Buffer.from(secret));
        return key.length === 52 && isWellFormedApiKey(key);
      }),
    );
  });
});

test("the key of known secrets is known", (t) => {
  t.is(formatApiKey(Buffer.alloc(32)), zeroKey);
  t.is(formatApiKey(Buffer.alloc(32, 0xff)), fullKey);
});

test("a changed, missing or added character makes the key malformed", (t) => {
  const key = formatApiKey(randomBytes(32));
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === "x" ? "y" : "x";
    t.false(isWellFormedApiKey(key.slice(0, index) + other + key.slice(index + 1)));
    t.false(isWellFormedApiKey(key.slice(0, index) + key.slice(index + 1)));
  }
  t.false(isWellFormedApiKey(`${key}0`));
  t.false(isWellFormedApiKey(`${key}\n`));
  t.false(isWellFormedApiKey(""));
  t.false(isWellFormedApiKey("jk_"));
});

test("the database is asked for the SHA-256 of the whole key", (t) => {
  t.deepEqual(hashApiKey(zeroKey), createHash("sha256").update(zeroKey, "ascii").digest());
});
