import { randomUUID } from "node:crypto";
import test from "ava";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { disputeBy, makeDispute } from "../../helpers/exchange/disputes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Disputes of resolutions: who may, until when, how often, and what staff answer. */

const exchange = testExchange(test, { sessions: 3 });
const { clock, dump, giveShares, makeMarket, makeMarketWith, makeTrader, operate, query, split } =
  exchange;
const pair = pairsOf(test, exchange, 12);

const start = Date.UTC(2030, 0, 10, 12);
const HOUR_MS = 3_600_000;
const at = (ms: number) => new Date(start + ms).toISOString();

const setWindow = (hours: number | null, reason: string | null = "a test") =>
  operate("set_dispute_window", { hours, reason });
const resolve = (market_id: string, outcome = "yes") =>
  operate("resolve_market", { market_id, outcome });
const correct = (market_id: string, outcome: string) =>
  operate("correct_resolution", { market_id, outcome, reason: "a mistake" });
const answer = (dispute_id: string, words: string | null) =>
  operate("answer_dispute", { dispute_id, answer: words });
const codeOf = async (market: string, user: string, text?: string) =>
  (await disputeBy(exchange, market, user, text)).code;
const listOf = async (userId: string, marketId?: string): Promise<any[]> =>
  JSON.parse(await exchange.calls.listDisputes({ userId, marketId })).data;

/** A market that was resolved to YES, and a user who held a share of each side. */
async function settled(): Promise<{ market: string; ann: string }> {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await split(market, ann, 1);
  await resolve(market);
  return { market, ann };
}

test.afterEach.always("the clock runs, and the window is that of a new exchange", async () => {
  await clock.release();
  await setWindow(72);
});

test.serial("NOT_OPEN_TO_DISPUTE: from the end of the window on, to the millisecond", async (t) => {
  await clock.freeze(new Date(start));
  await setWindow(2);
  const { market, ann } = await settled();
  const bob = await makeTrader();
  await clock.advance(2 * HOUR_MS - 1);
  t.is(await codeOf(market, ann), null);
  t.is(await codeOf(market, bob), "NO_SHARES_HELD");
  await clock.advance(1);
  t.is(await codeOf(market, ann), "NOT_OPEN_TO_DISPUTE");
  t.is(await codeOf(market, bob), "NOT_OPEN_TO_DISPUTE");
  await setWindow(3);
  t.is(await codeOf(market, ann), "ALREADY_DISPUTED", "the window holds for what was resolved");
  await setWindow(0);
  t.is(await codeOf(market, ann), "NOT_OPEN_TO_DISPUTE");
  t.is((await listOf(ann)).length, 1, "it can still be read");
});

test.serial("NOT_OPEN_TO_DISPUTE: not resolved, or voided", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await split(market, ann, 1);
  t.is(await codeOf(market, ann), "NOT_OPEN_TO_DISPUTE");
  await operate("set_market_status", { market_id: market, status: "closed" });
  t.is(await codeOf(market, ann), "NOT_OPEN_TO_DISPUTE");
  await resolve(market);
  await operate("void_market", { market_id: market, reason: "never asked" });
  t.is(await codeOf(market, ann), "NOT_OPEN_TO_DISPUTE");
});

test.serial(
  "NO_SHARES_HELD: users who have sold all or never had any; holders of each side may",
  async (t) => {
    const market = await makeMarket();
    const [ann, bob, cid, dan] = [
      ...[await makeTrader(), await makeTrader(), await makeTrader(), await makeTrader()],
    ] as [string, string, string, string];
    await giveShares(market, ann, "yes", 3);
    await giveShares(market, bob, "no", 3);
    await split(market, cid, 2);
    await exchange.merge(market, cid, 2);
    await resolve(market);
    t.is(await codeOf(market, ann), null, "a winner");
    t.is(await codeOf(market, bob), null, "a loser");
    t.is(await codeOf(market, cid), "NO_SHARES_HELD", "sold all");
    t.is(await codeOf(market, dan), "NO_SHARES_HELD", "never had any");
  },
);

test.serial("ALREADY_DISPUTED: once a resolution; a correction is another one", async (t) => {
  await clock.freeze(new Date(start));
  const { market, ann } = await settled();
  t.is(await codeOf(market, ann, "first"), null);
  t.is(await codeOf(market, ann, "again"), "ALREADY_DISPUTED");
  await clock.advance(60_000);
  await correct(market, "no");
  await clock.advance(1000);
  t.is(await codeOf(market, ann, "second"), null);
  t.is(await codeOf(market, ann), "ALREADY_DISPUTED");
  const [second, first] = await listOf(ann, market);
  t.like(first, { text: "first", outcome: "yes", yesPayoutCents: 100, resolvedAt: at(0) });
  t.like(second, { text: "second", outcome: "no", yesPayoutCents: 0, resolvedAt: at(60_000) });
  t.is(second.createdAt, at(61_000));
});

test.serial("the window begins anew with a correction", async (t) => {
  await clock.freeze(new Date(start));
  const { market, ann } = await settled();
  await clock.advance(72 * HOUR_MS);
  t.is(await codeOf(market, ann), "NOT_OPEN_TO_DISPUTE");
  await correct(market, "no");
  await clock.advance(72 * HOUR_MS - 1);
  t.is(await codeOf(market, ann), null);
});

test.serial("INVALID_REQUEST, UNAUTHORIZED, NOT_FOUND, in this order", async (t) => {
  const { market, ann } = await settled();
  const nowhere = randomUUID();
  for (const text of ["", " \n\t", "\u200b\u2800", "x".repeat(2001)]) {
    t.is(await codeOf(nowhere, nowhere, text), "INVALID_REQUEST");
  }
  t.is(await codeOf(nowhere, nowhere), "UNAUTHORIZED");
  t.deepEqual(await disputeBy(exchange, nowhere, ann), {
    ...{ code: "NOT_FOUND", message: "Market not found", id: null },
  });
  const bob = await makeTrader();
  const before = await dump();
  t.is(await codeOf(market, bob), "NO_SHARES_HELD");
  t.deepEqual(await dump(), before, "nothing changed");
  // Four bytes each, and one character.
  t.is(await codeOf(market, ann, "\u{1F327}".repeat(2000)), null);
});

test.serial("a list has the disputes of its user only, of one market or all", async (t) => {
  const [one, other] = [await settled(), await settled()];
  await split(await makeMarket(), one.ann, 1);
  await disputeBy(exchange, one.market, one.ann, "of ann");
  await disputeBy(exchange, other.market, other.ann, "of another");
  const own = await makeDispute(exchange, one.ann);
  t.deepEqual(
    (await listOf(one.ann)).map(({ id, text }) => [id === own, text]),
    [
      [true, "It rained."],
      [false, "of ann"],
    ],
  );
  t.deepEqual(
    (await listOf(one.ann, one.market)).map(({ text }) => text),
    ["of ann"],
  );
  t.deepEqual(await listOf(one.ann, other.market), []);
});

test.serial("INVALID_STATE: an answer is given once, and its user reads it", async (t) => {
  await clock.freeze(new Date(start));
  const { market, ann } = await settled();
  const { id } = await disputeBy(exchange, market, ann);
  t.like((await listOf(ann))[0], { id, answer: null, answeredAt: null });
  const isOpen = async () =>
    (await query("select is_open from admin.disputes where dispute_id = $1", [id]))[0].is_open;
  t.true(await isOpen());
  await clock.advance(5000);
  for (const words of [null, "", " \n", "x".repeat(2001)]) {
    await t.throwsAsync(answer(id!, words), { code: "EX001" });
  }
  await answer(id!, "The station says so.");
  t.like((await listOf(ann))[0], { answer: "The station says so.", answeredAt: at(5000) });
  const mails = await query(
    `select m.details ->> 'title' = k.title as is_of_market
     from identity.mails as m
     join identity.users as u on u.id = m.user_id
     join admin.disputes as d on d.user_id = u.public_id
     join admin.markets as k on k.market_id = d.market_id
     where u.public_id = $1 and d.dispute_id = $2 and m.kind = 'dispute_answered'`,
    [ann, id],
  );
  t.deepEqual(mails, [{ is_of_market: true }]);
  t.false(await isOpen());
  await t.throwsAsync(answer(id!, "Or not."), { code: "EX019" });
  await t.throwsAsync(answer(randomUUID(), "To nobody."), { code: "EX017" });
  t.is((await listOf(ann))[0].answer, "The station says so.");
});

test.serial("INVALID_REQUEST: a window that is none, or without a reason", async (t) => {
  for (const hours of [-1, 8761, null]) await t.throwsAsync(setWindow(hours), { code: "EX001" });
  for (const reason of [null, " ", "\u200b"])
    await t.throwsAsync(setWindow(5, reason), { code: "EX001" });
  t.deepEqual(await query("select hours from admin.dispute_window"), [{ hours: 72 }]);
  for (const hours of [0, 8760]) {
    await setWindow(hours);
    t.deepEqual(await query("select hours from admin.dispute_window"), [{ hours }]);
  }
});

test.serial("an erasure takes the words away and closes what was open", async (t) => {
  const { market, ann: user_id } = await settled();
  const words = "A neighbour of Ann wrote this";
  const { id } = await disputeBy(exchange, market, user_id, words);
  await answer(id!, `${words}, and this is the answer`);
  await correct(market, "no");
  await disputeBy(exchange, market, user_id, words);
  const exported: any = await operate("export_user", { user_id });
  t.deepEqual(
    exported.disputes.map(({ text, answer: given }: any) => [text, given]),
    [
      [words, `${words}, and this is the answer`],
      [words, null],
    ],
  );
  const [{ cents }] = await query(
    "select balance_cents as cents from admin.users where user_id = $1",
    [user_id],
  );
  await operate("withdraw", { user_id, amount_cents: cents, reference: "all" });
  await operate("erase_user", { user_id, reason: "asked for it" });
  const rows = await query("select text, answer, is_open from admin.disputes where user_id = $1", [
    user_id,
  ]);
  const erased = { text: "erased", answer: "erased", is_open: false };
  t.deepEqual(rows, [erased, erased]);
  t.is(await codeOf(market, user_id), "UNAUTHORIZED");
  t.false(JSON.stringify(await dump()).includes(words));
  t.deepEqual(await query("select * from ledger.verify()"), []);
});

pair(
  "two disputes of one user: one of them is kept",
  ["first", "second"],
  async (contention, t) => {
    const { market, ann } = await settled();
    const codes = await contention.together([
      () => contention.insist(() => codeOf(market, ann, "first")),
      () => contention.insist(() => codeOf(market, ann, "second")),
    ] as const);
    const [{ text }, ...others] = await listOf(ann);
    t.deepEqual(others, []);
    t.deepEqual(codes, text === "first" ? [null, "ALREADY_DISPUTED"] : ["ALREADY_DISPUTED", null]);
    return text;
  },
);

pair(
  "a dispute beside a correction is about the resolution that held",
  ["yes", "no"],
  async (contention, t) => {
    const { market, ann } = await settled();
    const [code] = await contention.together([
      () => contention.insist(() => codeOf(market, ann)),
      () => contention.insist(() => failure(correct(market, "no"))),
    ] as const);
    t.is(code, null);
    return (await listOf(ann))[0].outcome;
  },
);

pair(
  "a dispute beside the erasure of its user: no words stay",
  ["erased first", "disputed first"],
  async (contention, t) => {
    const [market, user_id] = await makeMarketWith(1, { cents: 100 });
    await split(market, user_id, 1);
    await resolve(market);
    await operate("withdraw", { user_id, amount_cents: 100, reference: "all" });
    const [code, erased] = await contention.together([
      () => contention.insist(() => codeOf(market, user_id)),
      () =>
        contention.insist(() => failure(operate("erase_user", { user_id, reason: "asked for" }))),
    ] as const);
    t.is(erased, null);
    const rows = await query("select text from admin.disputes where user_id = $1", [user_id]);
    t.deepEqual(rows, code === null ? [{ text: "erased" }] : []);
    return code === null ? "disputed first" : "erased first";
  },
);
