import test from "ava";
import { adviceOn } from "../../src/website/api/advice.ts";
import { browserWords } from "../../src/website/components/account/browser_words.ts";
import { feeCents, feeWeight, USUAL_RATE_BPS } from "../../src/website/components/fee.ts";
import { groupByEvent } from "../../src/website/components/home/groups.ts";
import { initialsOf } from "../../src/website/components/initials.ts";
import {
  bestPriceOf,
  bestPricesOf,
  farBeyond,
} from "../../src/website/components/market/best_price.ts";
import { moneyScale, percentScale } from "../../src/website/components/chart/scale.ts";
import { completeSetsOf } from "../../src/website/components/portfolio/complete_sets.ts";
import { earlierResultCents } from "../../src/website/components/portfolio/earlier_result.ts";
import { joinedRows } from "../../src/website/components/portfolio/joined_rows.ts";
import {
  filledWords,
  kindWords,
  limitWords,
  stateWords,
  termsWords,
  undoneWords,
  untilWords,
  valueBasis,
} from "../../src/website/components/portfolio/words.ts";

test("each rejection is shown in words, with the next step", (t) => {
  const refused = (code: string) => adviceOn({ status: 400, error: "x", code });
  t.is(refused("LIMITS_SETUP_REQUIRED").next?.href, "/account?first=limits");
  t.is(
    adviceOn({ status: 403, error: "x", code: "LIMITS_SETUP_REQUIRED" }, "/markets/1").next?.href,
    "/account?first=limits&back=%2Fmarkets%2F1",
  );
  t.is(adviceOn({ status: 429, error: "x", retryAfterSeconds: 1 }).text.slice(-9), "1 second.");
  t.is(adviceOn({ status: 400, error: "market not open" }).text, "Market not open.");
  t.is(adviceOn({ status: 401, error: "Unauthorized" }).next?.href, "/sign-in");
  const signedOut = { status: 401, error: "Unauthorized", code: "SIGNED_OUT" };
  t.deepEqual(adviceOn(signedOut, "/markets/1?a=b"), {
    text: "You are signed out. The order was not placed.",
    next: { label: "Sign in", href: "/sign-in?back=%2Fmarkets%2F1%3Fa%3Db" },
  });
  t.is(adviceOn({ status: 401, error: "Wrong e-mail or password" }).next, undefined);
});

test("what is wrong with a field is said without the names that programs use", (t) => {
  const problemOf = (path: string, message: string) => ({
    ...{ status: 400, code: "INVALID_REQUEST" },
    ...{ error: `${path}: ${message}`, issues: [{ path, message }] },
  });
  const late = problemOf("expiresAt", "must be in the future");
  t.is(adviceOn(late).text, "The time must be in the future.");
  // A preview's rejection has no list of issues.
  const { error, code, status } = late;
  t.is(adviceOn({ error, code, status }).text, "The time must be in the future.");
  t.is(adviceOn({ status: 400, error: "Sorry: not now" }).text, "Sorry: not now.");
  t.is(adviceOn(problemOf("orders.0.size", "required")).text, "This is required.");
});

test("the documented examples of the fee: 100 shares at 50 cost 175, one costs 2", (t) => {
  const fee = (quantity: number, price: number) =>
    feeCents(feeWeight(quantity, price), USUAL_RATE_BPS);
  t.deepEqual([fee(100, 50), fee(1, 50), fee(1, 1)], [175, 2, 1]);
});

test("a list that is read anew keeps its older rows where the two meet", (t) => {
  const rows = (...ids: number[]) => ids.map((id) => ({ id }));
  t.deepEqual(joinedRows(rows(6, 5, 4), rows(5, 4, 3, 2)), rows(6, 5, 4, 3, 2));
  t.deepEqual(joinedRows(rows(5, 4), rows(5, 4)), rows(5, 4));
  t.is(joinedRows(rows(9, 8), rows(5, 4)), undefined, "rows between are missing");
  t.is(joinedRows(rows(2, 1), []), undefined);
});

test("a result has what was earned before the payout, besides the payout less cost and fees", (t) => {
  const paidOut = { costCents: 3500, buyFeesCents: 172, payoutCents: 1850 };
  t.is(earlierResultCents({ ...paidOut, realisedCents: -1877 }), -55);
  t.is(earlierResultCents({ ...paidOut, realisedCents: -1822 }), 0);
});

test("as many YES as NO shares of a market are complete sets, until it is resolved", (t) => {
  const held = (marketId: string, side: "yes" | "no", quantity: number, status = "open") =>
    ({
      ...{ marketId, side, quantity },
      marketTitle: `M ${marketId}`,
      marketStatus: status,
    }) as any;
  const sets = completeSetsOf([
    ...[held("a", "no", 3), held("b", "yes", 9), held("a", "yes", 5)],
    ...[held("c", "yes", 20_000, "paused"), held("c", "no", 15_000, "paused")],
    ...[held("d", "yes", 1, "resolved"), held("d", "no", 1, "resolved")],
  ]);
  t.deepEqual(sets, [
    { marketId: "a", marketTitle: "M a", quantity: 3 },
    { marketId: "c", marketTitle: "M c", quantity: 10_000 },
  ]);
});

test("orders and entries of the account are shown in words", (t) => {
  t.is(kindWords({ kind: "settlement" }), "Payout of a resolved market");
  t.is(kindWords({ kind: "void", tradeId: "t" }), "Trade undone");
  t.is(kindWords({ kind: "void", tradeId: null }), "Trades undone");
  t.is(kindWords({ kind: "trade", tradeId: "t" }), "Trade");
  const cancelled = (cancelReason: "expired" | "insufficient_liquidity" | null) =>
    stateWords({ status: "cancelled", cancelReason });
  t.is(cancelled("expired"), "Expired");
  t.is(cancelled("insufficient_liquidity"), "Cancelled: nothing more was offered at its price");
  t.is(stateWords({ status: "partially_filled", cancelReason: null }), "Partly filled");
});

test("an order of which some trades were undone says so", (t) => {
  const order = { marketId: "m", fills: [{ id: "a" }, { id: "b" }] };
  const undone = (tradeId: string | null, marketId = "m") => ({
    ...{ tradeId, marketId, undoneAt: "2026-01-02T03:04:05Z" },
  });
  t.is(undoneWords(order, [undone("c"), undone(null, "n")]), undefined);
  t.regex(undoneWords(order, [undone("b")])!, /^Undone in part on /);
  t.regex(undoneWords(order, [undone("b"), undone("a")])!, /^Undone on /);
  t.regex(undoneWords(order, [undone(null)])!, /^Undone on /);
  const later = { ...undone(null), undoneAt: "2026-05-06T00:00:00Z" };
  const both = undoneWords({ ...order, fills: [{ id: "a" }] }, [later, undone("a")])!;
  t.regex(both, /2 Jan 2026/, "the trade itself was undone before its market");
  t.is(undoneWords({ ...order, fills: [] }, [undone(null)]), undefined);
});

test("shares without a trade in their market are valued at cost, and said to be", (t) => {
  const of = (...prices: (number | null)[]) =>
    valueBasis(prices.map((lastPrice) => ({ lastPrice })));
  t.is(of(), "at the last price");
  t.is(of(40, 60), "at the last price");
  t.is(of(null, null), "at cost");
  t.is(of(40, null), "at the last price or at cost");
});

test("an order at any price that may not rest is a market order", (t) => {
  const limit = (orderType: "buy" | "sell", price: number, timeInForce: "gtc" | "ioc") =>
    limitWords({ orderType, price, timeInForce });
  t.is(limit("buy", 99, "ioc"), "market");
  t.is(limit("sell", 1, "ioc"), "market");
  t.is(limit("buy", 99, "gtc"), "99¢");
  t.is(limit("sell", 99, "ioc"), "99¢");
  t.is(limit("buy", 1, "ioc"), "1¢");
});

test("an open order says what it asks for, how much is filled, and until when it waits", (t) => {
  const limit = { orderType: "buy", price: 60, timeInForce: "gtc" } as const;
  const counted = { ...limit, budgetCents: null, filledQuantity: 3, quantity: 1200 };
  t.deepEqual([termsWords(counted), filledWords(counted)], ["60¢", "3 / 1,200"]);
  const market = { ...limit, price: 99, timeInForce: "ioc" } as const;
  const budget = { ...market, budgetCents: 1250, filledQuantity: 0, quantity: 0 };
  t.deepEqual([termsWords(budget), filledWords(budget)], ["Budget €12.50", "–"]);
  t.is(untilWords({ ...market, expiresAt: null }), "its release");
  t.is(untilWords({ ...limit, expiresAt: null }), "no end");
  t.regex(untilWords({ ...limit, expiresAt: "2030-05-01T12:00:00.000Z" }), /2030/);
});

test("markets of an event stand together, where the first of them does", (t) => {
  const market = (id: string, eventId: string | null) => ({ id, eventId }) as any;
  const listed = [market("a", null), market("b", "e"), market("c", null), market("d", "e")];
  t.deepEqual(
    groupByEvent(listed).map(({ eventId, markets }) => [eventId, markets.map(({ id }) => id)]),
    [
      [null, ["a"]],
      ["e", ["b", "d"]],
      [null, ["c"]],
    ],
  );
});

test("browsers are named for people", (t) => {
  const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36";
  t.is(browserWords(chrome), "Chrome on Linux");
  t.is(browserWords("curl/8"), "curl/8");
  t.is(browserWords(null), "Unknown browser");
});

test("a user is shown by the initials of the first and the last name", (t) => {
  t.is(initialsOf("Ann Lee"), "AL");
  t.is(initialsOf("Ann Marie van Lee"), "AL");
  t.is(initialsOf("ann"), "A");
  t.is(initialsOf("(émile) zola-b"), "ÉB");
  t.is(initialsOf("👋 -"), "");
});

test("the lines of a chart are at whole steps of one size, around all prices", (t) => {
  const { stepsOf } = percentScale;
  t.deepEqual(stepsOf([53, 60]), [50, 55, 60]);
  t.deepEqual(stepsOf([50]), [45, 50, 55]);
  t.deepEqual(stepsOf([50, 51]), [50, 55], "one cent is a small part of the chart");
  t.deepEqual(
    [stepsOf([1]), stepsOf([98])],
    [
      [0, 5, 10],
      [90, 95, 100],
    ],
  );
  t.deepEqual(stepsOf([1, 99]), [0, 25, 50, 75, 100]);
  for (let low = 1; low < 100; low++) {
    for (let high = low; high < 100; high++) {
      const steps = stepsOf([high, low]);
      const size = steps[1]! - steps[0]!;
      const isWhole = steps.every(
        (step, at) => step === steps[0]! + at * size && step % size === 0,
      );
      t.true(isWhole && Number.isInteger(size) && steps.length <= 5, `${low} ${high}`);
      t.true(steps[0]! >= 0 && steps[0]! <= low, `${low} ${high}`);
      t.true(steps.at(-1)! >= high && steps.at(-1)! <= 100, `${low} ${high}`);
    }
  }
});

test("a pause also ends orders that wait for their release", (t) => {
  const words = stateWords({ status: "cancelled", cancelReason: "market_closed" });
  t.is(words, "Cancelled: the market closed or was paused");
});

test("the lines of a chart of money are at whole euros, however much it is, or at half ones", (t) => {
  const { stepsOf, label } = moneyScale;
  t.deepEqual(stepsOf([5000, 4983]), [4900, 5000]);
  t.deepEqual(stepsOf([5000]), [4900, 5000, 5100]);
  t.deepEqual(stepsOf([-30, 61_000]), [-50_000, 0, 50_000, 100_000]);
  t.deepEqual(stepsOf([20, 160]), [0, 50, 100, 150, 200]);
  t.deepEqual([460, 500, 50, 123_456].map(label), ["€4.60", "€5", "€0.50", "€1,235"]);
  t.deepEqual(stepsOf([0, 123_456_789]), [0, 50_000_000, 100_000_000, 150_000_000]);
});

test("the best price is that of the offers that an order would take", (t) => {
  const market = { bestAsk: 62, bestBid: 55 };
  t.is(bestPriceOf(market, { orderType: "buy", side: "yes" }), "62");
  t.is(bestPriceOf(market, { orderType: "buy", side: "no" }), "45");
  t.is(bestPriceOf(market, { orderType: "sell", side: "yes" }), "55");
  t.is(bestPriceOf(market, { orderType: "sell", side: "no" }), "38");
  t.is(bestPriceOf({ bestAsk: null, bestBid: 1 }, { orderType: "buy", side: "yes" }), "");
});

test("a limit ten cents beyond the best price is far", (t) => {
  const level = (price: number) => ({ price, quantity: 1 });
  const market = bestPricesOf({ yesBids: [level(55)], noBids: [level(38), level(30)] });
  t.deepEqual(market, { bestBid: 55, bestAsk: 62 });
  const far = (orderType: "buy" | "sell", side: "yes" | "no", price: number | null) =>
    farBeyond(market, { marketId: "m", quantity: 1, orderType, side, price });
  t.deepEqual([far("buy", "yes", 71), far("buy", "yes", 72)], [undefined, 62]);
  t.deepEqual([far("buy", "no", 54), far("buy", "no", 55)], [undefined, 45]);
  t.deepEqual([far("sell", "yes", 46), far("sell", "yes", 45)], [undefined, 55]);
  t.deepEqual([far("sell", "yes", 99), far("buy", "yes", null)], [undefined, undefined]);
  const empty = bestPricesOf({ yesBids: [], noBids: [] });
  t.is(farBeyond(empty, { marketId: "m", side: "yes", price: 99, quantity: 1 }), undefined);
});
