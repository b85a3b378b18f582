import test from "ava";
import { createCallLimiter } from "../../src/database/call_limiter.ts";
import { commandLimits } from "../../src/engine/ladder.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import { createUserTurns } from "../../src/engine/user_turns.ts";
import { createWalks } from "../../src/engine/walks.ts";
import { fakePool } from "../http/fake_pool.ts";
import type { FakeCall } from "../http/fake_pool.ts";
import { accepted, order, ordersOf, retries, ticks, withCode } from "./fake_gatherers.ts";

/** Calls that hold their market for long and place nothing, on a clock that a test moves. */

function movableClock() {
  let now = 0;
  let timers: { at: number; work: () => void }[] = [];
  return {
    now: () => now,
    later: (work: () => void, ms: number) => {
      const timer = { at: now + ms, work };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    pass: async (ms: number) => {
      const end = now + ms;
      await ticks(6);
      while (now < end) {
        now++;
        for (const { work } of timers.filter(({ at }) => at === now)) work();
        timers = timers.filter(({ at }) => at > now);
        await ticks(6);
      }
    },
  };
}

/** Batches and amendments on a database in which a call lasts as long as a test says. */
function slowDatabase(answer: (call: FakeCall) => unknown[]) {
  const clock = movableClock();
  const { now, later } = clock;
  let tookMs = 0;
  const { pool } = fakePool({
    answer: async (call) => {
      await new Promise<void>((done) => {
        if (tookMs > 0) later(done, tookMs);
        else done();
      });
      return answer(call);
    },
  });
  const limiter = createCallLimiter({ limits: commandLimits(12), later });
  const walks = createWalks({ now });
  const gatherer = createOrderGatherer({ pool, retries, limiter, walks, now, later });
  const outcomes: string[] = [];
  const watch = (name: string, placed: Promise<unknown>) => {
    placed.then(
      () => outcomes.push(`${name} ${now()}`),
      (error: unknown) => outcomes.push(`${name} ${(error as { kind: string }).kind}`),
    );
  };
  return {
    ...{ ...gatherer, clock, outcomes, watch },
    turns: createUserTurns(limiter, walks, pool),
    lasts: (ms: number) => {
      tookMs = ms;
    },
  };
}

const deep = (userId: string, marketId = "a") => order(marketId, 1, { userId, quantity: 10_000 });
const reject = (call: FakeCall) => ordersOf(call).map(() => withCode("INSUFFICIENT_BALANCE"));

test("after an atomic batch that was long and rejected, others rest 3 times as long, its user 40", async (t) => {
  const { clock, lasts, outcomes, placeTogether, watch } = slowDatabase((call) =>
    ordersOf(call).map((each, index) => (index === 1 ? withCode("LOSS_LIMIT") : accepted(each))),
  );
  lasts(100);
  watch("walk", placeTogether([deep("ann"), order("a", 2, { userId: "ann" })]));
  await clock.pass(100);
  lasts(0);
  watch("ann deep", placeTogether([deep("ann")]));
  watch("bob deep", placeTogether([deep("bob")]));
  watch("bob elsewhere", placeTogether([deep("bob", "b")]));
  watch("cy few", placeTogether([order("a", 3, { userId: "cy", quantity: 500 })]));
  await clock.pass(5000);
  // The limiter looks again every 50 ms.
  t.deepEqual(outcomes, [
    "walk 100",
    "cy few 100",
    "bob deep 400",
    "bob elsewhere 400",
    "ann deep 4100",
  ]);
});

test("a batch with a key walks if it is long and most of its orders are rejected", async (t) => {
  const resultOf = (codes: (string | null)[]) => [
    {
      ...accepted(order("a", 1)),
      body: JSON.stringify({ results: codes.map((code) => ({ code })) }),
    },
  ];
  let codes: (string | null)[] = [];
  const { clock, lasts, outcomes, placeOnce, watch } = slowDatabase(() => resultOf(codes));
  const some = (price: number) => order("a", price, { userId: "ann", quantity: 300 });
  const place = (name: string) => {
    const batch = { userId: "ann", orders: [1, 2, 3].map(some) };
    const key = { idempotencyKey: "k", requestFingerprint: "f" };
    watch(name, placeOnce({ ...batch, ...key, atomic: false }));
  };
  lasts(100);
  codes = ["LOSS_LIMIT", null, null];
  place("one of three");
  await clock.pass(100);
  codes = ["POST_ONLY_WOULD_CROSS", "MARKET_NOT_OPEN", "LOSS_LIMIT"];
  place("without a walk");
  await clock.pass(100);
  codes = ["LOSS_LIMIT", "LOSS_LIMIT", null];
  place("two of three");
  await clock.pass(100);
  place("behind them");
  await clock.pass(4200);
  t.deepEqual(outcomes, [
    "one of three 100",
    "without a walk 200",
    "two of three 300",
    "behind them 4400",
  ]);
});

test("an amendment that was long and rejected makes amendments, batches and orders of its market rest", async (t) => {
  const again = (call: FakeCall) =>
    call.values[4] === null ? ordersOf(call).map(accepted) : [withCode("AGAIN")];
  const { clock, lasts, outcomes, place, placeTogether, turns, watch } = slowDatabase((call) =>
    call.name === "run_orders" ? again(call) : reject(call),
  );
  const amend = async (userId: string, tookMs: number, code: string | null) => {
    const { turn, end } = turns.deepAmendment(userId, "a");
    await turn.turn!(async () => {
      await new Promise<void>((done) => clock.later(done, tookMs));
    });
    end({ code, message: null, replayed: false, body: "" });
  };
  watch("accepted", amend("bob", 100, null));
  await clock.pass(100);
  watch("walk", amend("ann", 100, "LOSS_LIMIT"));
  await clock.pass(100);
  lasts(1);
  watch("amendment", amend("bob", 1, null));
  watch("order", place(deep("cy")));
  await clock.pass(290);
  t.deepEqual(outcomes, ["accepted 100", "walk 200"]);
  await clock.pass(20);
  t.deepEqual(
    outcomes
      .slice(2)
      .map((text) => text.split(" ")[0])
      .sort(),
    ["amendment", "order"],
  );
  watch("batch of ann", placeTogether([deep("ann")]));
  await clock.pass(3600);
  t.is(outcomes.length, 4);
  await clock.pass(100);
  t.regex(outcomes.at(-1)!, /^batch of ann 42\d\d$/);
});
