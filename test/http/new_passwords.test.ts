import test from "ava";
import { accountAccessRoutes } from "../../src/api/account_access.ts";
import { newPasswordSchema } from "../../src/api/account_schemas.ts";

/** Combining marks in an order that takes seconds to bring into normal form. */
const slowToNormalize =
  "a" + ["\u0345", "\u0360", "\u0315", "\u0300"].map((mark) => mark.repeat(8000)).join("");

test.serial("no text that is too long for a password is brought into normal form", (t) => {
  const original = Object.getOwnPropertyDescriptor(String.prototype, "normalize") ?? {};
  const value = () => {
    throw new Error("it was");
  };
  Object.defineProperty(String.prototype, "normalize", { ...original, value });
  t.teardown(() => Object.defineProperty(String.prototype, "normalize", original));
  t.is(newPasswordSchema.safeParse(slowToNormalize).error?.issues.length, 1);
});

test.serial("nor the names of a sign-up, which its password is compared with", (t) => {
  const normalized: string[] = [];
  const original = Object.getOwnPropertyDescriptor(String.prototype, "normalize") ?? {};
  const value = function (this: string) {
    normalized.push(this);
    return this;
  };
  const signUp = accountAccessRoutes.find(({ operationId }) => operationId === "signUp");
  const fine = { email: "anna@example.org", handle: "anna_1", displayName: "Anna" };
  const password = "vwzkqjxylp";
  Object.defineProperty(String.prototype, "normalize", { ...original, value });
  t.teardown(() => Object.defineProperty(String.prototype, "normalize", original));
  for (const name of Object.keys(fine)) {
    normalized.length = 0;
    const body = { ...fine, password, [name]: slowToNormalize };
    const issues = signUp?.request.body?.safeParse(body).error?.issues ?? [];
    t.deepEqual(new Set(issues.flatMap(({ path }) => path)), new Set([name]));
    t.true(normalized.includes(password), "it was compared");
    t.false(normalized.includes(slowToNormalize), name);
  }
});

test.serial("the characters of a password count in its normal form", (t) => {
  const isGood = (password: string) => newPasswordSchema.safeParse(password).success;
  t.true(isGood("x\u0301".repeat(5) + "qvwzk"));
  t.false(isGood("e\u0301".repeat(9)), "nine characters, of two each");
  const longest = Array.from({ length: 200 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  t.true(isGood(longest));
  t.false(isGood(`${longest}x`));
});
