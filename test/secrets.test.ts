import { createHash, randomBytes } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import { formatSecret, isWellFormedSecret, sha256Of } from "../src/secrets.ts";

// Worked out by other means.
const zeroKey = "jk_00000000000000000000000000000000000000000001NfWv1";
const fullKey = "jk_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp147S8hD";

test("every secret makes a well-formed key of 52 characters", (t) => {
  const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
  t.notThrows(() => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const key = formatSecret(Buffer.from(secret), "jk_");
        return key.length === 52 && isWellFormedSecret(key, "jk_");
      }),
    );
  });
});

test("the key of known secrets is known", (t) => {
  t.is(formatSecret(Buffer.alloc(32), "jk_"), zeroKey);
  t.is(formatSecret(Buffer.alloc(32, 0xff), "jk_"), fullKey);
});

test("a changed, missing or added character makes the key malformed", (t) => {
  const key = formatSecret(randomBytes(32), "jk_");
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === "x" ? "y" : "x";
    t.false(isWellFormedSecret(key.slice(0, index) + other + key.slice(index + 1), "jk_"));
    t.false(isWellFormedSecret(key.slice(0, index) + key.slice(index + 1), "jk_"));
  }
  t.false(isWellFormedSecret(`${key}0`, "jk_"));
  t.false(isWellFormedSecret(`${key}\n`, "jk_"));
  t.false(isWellFormedSecret("", "jk_"));
  t.false(isWellFormedSecret("jk_", "jk_"));
});

test("the database is asked for the SHA-256 of the whole key", (t) => {
  t.deepEqual(sha256Of(zeroKey), createHash("sha256").update(zeroKey, "ascii").digest());
});
