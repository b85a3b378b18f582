import { createHash } from "node:crypto";
import test from "ava";
import {
  commonPasswords,
  isCommon,
  isLikeAccount,
} from "../../../src/accounts/common_passwords.ts";
import { hashPassword, newSettings, standardSettings } from "../../../src/accounts/passwords.ts";
import { linkHashOf, makeInvitedMember } from "../../helpers/exchange/invited_member.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What servers may know of passwords: how to hash one, and whether a hash is right. */

const exchange = testExchange(test, { sessions: 3 });
const { calls, operate } = exchange;

const settingsOf = (email: string) =>
  calls.getPasswordSettings({ standard: standardSettings, email });

const password = "correct horse battery";

async function makeMember() {
  const passwordHash = await hashPassword(password, newSettings());
  return { ...(await makeInvitedMember(exchange, passwordHash)), passwordHash };
}

const signIn = (email: string, passwordHash: string) =>
  calls.signIn({ email, passwordHash, isHostOnly: false });

test("settings are all before the digest, and make the same hash again", async (t) => {
  const { email, passwordHash, userId } = await makeMember();
  const settings = await settingsOf(email.toUpperCase());
  t.true(passwordHash.startsWith(`${settings}$`));
  t.is(passwordHash.split("$").length, settings.split("$").length + 1);
  t.is(await hashPassword(password, settings), passwordHash);
  t.is((await signIn(email, passwordHash)).userId, userId);
  const own = { standard: standardSettings, userId };
  t.is(await calls.getPasswordSettings(own), settings);
});

test("an address without an account has settings that look like others, always the same", async (t) => {
  const real = await settingsOf((await makeMember()).email);
  const decoy = await settingsOf("unknown@test.example");
  t.is(decoy.length, real.length);
  t.deepEqual(decoy.split("$").slice(0, -1), real.split("$").slice(0, -1));
  t.regex(decoy, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}$/);
  t.is(await settingsOf("unknown@test.example"), decoy);
  t.is(await settingsOf("UNKNOWN@test.example"), decoy);
  t.not(await settingsOf("another@test.example"), decoy);
  const user = await exchange.makeTrader();
  const without = { standard: standardSettings, userId: user };
  t.is((await calls.getPasswordSettings(without)).length, real.length);
});

test("settings of addresses without an account cannot be computed from outside", async (t) => {
  const salt = (await settingsOf("x@test.example")).split("$").at(-1);
  const plain = createHash("sha256").update("x@test.example").digest().subarray(0, 16);
  t.not(salt, plain.toString("base64").replaceAll("=", ""));
});

test("a wrong hash, an empty one and null open no session", async (t) => {
  const { email, passwordHash } = await makeMember();
  const trader = await exchange.makeTrader();
  const rows = await exchange.query("select email from identity.users where public_id = $1", [
    trader,
  ]);
  for (const [address, hash] of [
    [email, passwordHash.slice(0, -1)],
    [email, ""],
    [email, null],
    [rows[0].email, ""],
    [rows[0].email, passwordHash],
    ["unknown@test.example", ""],
    ["unknown@test.example", null],
  ] as [string, string][]) {
    t.deepEqual({ ...(await signIn(address, hash)) }, { userId: null, cookie: null });
  }
});

test("a link is used by one of two that come at the same moment", async (t) => {
  const { userId } = await makeMember();
  for (let round = 0; round < 5; round++) {
    const path: string = await operate("sign_in_link", { user_id: userId });
    const tokenHash = linkHashOf(path);
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => calls.signInByLink({ tokenHash, isHostOnly: false })),
    );
    t.is(results.filter(({ status }) => status === "fulfilled").length, 1);
    for (const result of results) {
      if (result.status === "rejected") t.is(result.reason.code, "EX029");
    }
  }
});

test("the thousand most common passwords are refused, in any case", (t) => {
  t.is(commonPasswords.size, 1000);
  for (const common of commonPasswords) {
    t.true(Array.from(common).length >= 10, common);
    t.true(isCommon(common.toUpperCase()), common);
  }
  // Each is on every published list.
  for (const common of ["1234567890", "qwertyuiop", "password123", "1q2w3e4r5t", "1qaz2wsx3edc"]) {
    t.true(commonPasswords.has(common), common);
  }
});

test("what differs little from a common password is refused, and other passwords are not", (t) => {
  for (const common of [
    ...["Password1234!", "iloveyou!!!", "Liverpool2020", "aaaaaaaaaa", "abc123abc123"],
    ...[
      "Ｐassword1234!",
      "passwordpassword",
      "0987654321",
      "147258369147",
      "qwertyuiopasdf",
      "superman@2024",
    ],
  ]) {
    t.true(isCommon(common), common);
  }
  for (const fine of [
    ...["correct horse", "mJ8-tree-Lamp", "one two three four", "x7Kp2mQw9z"],
    ...["password and more", "dragonflies4711", "8305917264"],
  ]) {
    t.false(isCommon(fine), fine);
  }
});

test("what has little besides the account's address or handle is refused", (t) => {
  const anna = { email: "Anna@example.org", handle: "anna.petrova" };
  for (const like of [
    ...["anna@example.org", "anna@EXAMPLE.org1", "2024anna@example.org!"],
    ...["Anna.Petrova", "anna.petrova2024", "anna.petrovaanna.petrova", "Ａnna.petrova1"],
  ]) {
    t.true(isLikeAccount(like, anna), like);
  }
  const petrova = { email: "petrova@example.org", handle: "pet" };
  t.true(isLikeAccount("petrova1990", petrova));
  // A short name is in many passwords by chance.
  for (const [fine, account] of [
    ["anna1234567", anna],
    ["anna.petrova rides", anna],
    ["pet12345678", petrova],
    ["correct horse", anna],
  ] as const) {
    t.false(isLikeAccount(fine, account), fine);
  }
});

test.serial("many hashes at once are made one after the other, and are the same", async (t) => {
  const settings = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ";
  const hashes = await Promise.all(
    Array.from({ length: 50 }, () => hashPassword("a password", settings)),
  );
  t.is(new Set(hashes).size, 1);
  const most = Array.from({ length: 150 }, () => hashPassword("a password", settings));
  const results = await Promise.allSettled(most);
  t.is(results.filter(({ status }) => status === "rejected").length, 48, "2 run and 100 wait");
  await t.throwsAsync(hashPassword("x", "$2b$10$nothing"), { instanceOf: TypeError });
});

test("an address that is not confirmed yet is that of no account", async (t) => {
  const { email, passwordHash, userId } = await makeMember();
  const own = `${userId}@unconfirmed.invalid`;
  await exchange.query("update identity.users set email = $2 where public_id = $1", [userId, own]);
  t.deepEqual({ ...(await signIn(own, passwordHash)) }, { userId: null, cookie: null });
  t.not(await hashPassword(password, await settingsOf(own)), passwordHash);
  t.not(email, own);
});
