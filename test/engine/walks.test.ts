import test from "ava";
import { createCallLimiter } from "../../src/database/call_limiter.ts";
import { commandLimits } from "../../src/engine/ladder.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import { createWalks } from "../../src/engine/walks.ts";
import { databaseError, fakePool } from "../http/fake_pool.ts";
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
      await ticks(8);
      while (now < end) {
        now++;
        for (const { work } of timers.filter(({ at }) => at === now)) work();
        timers = timers.filter(({ at }) => at > now);
        await ticks(8);
      }
    },
  };
}

/** An order that could meet too many makers has this quantity; an amendment that could, this price. */
const DEEP = 10_000;
const isCommand = (call: FakeCall) => call.name === "run_command";
const isBounded = (call: FakeCall) => call.values[isCommand(call) ? 8 : 4] !== null;
const isDeep = (call: FakeCall) =>
  isCommand(call)
    ? call.values[4] === 99
    : ordersOf(call).some(({ quantity }) => quantity === DEEP);

/** A gatherer on a database that looks into the book for so long, if an order goes deep. */
function slowDatabase(answer: (call: FakeCall) => unknown[]) {
  const clock = movableClock();
  const { now, later } = clock;
  let walkMs = 0;
  const { pool } = fakePool({
    answer: async (call) => {
      if (isDeep(call) && isBounded(call)) {
        if (isCommand(call)) return [{ ...withCode("AGAIN"), body: "a" }];
        const isKeyed = call.values[6] !== null;
        return (isKeyed ? [0] : ordersOf(call)).map(() => withCode("AGAIN"));
      }
      if (isDeep(call) && walkMs > 0) await new Promise<void>((done) => later(done, walkMs));
      return answer(call);
    },
  });
  const limiter = createCallLimiter({ limits: commandLimits(12), later });
  const gatherer = createOrderGatherer({ pool, retries, limiter, now, later });
  const outcomes: string[] = [];
  return {
    ...{ ...gatherer, clock, outcomes },
    watch: (name: string, placed: Promise<unknown>) => {
      placed.then(
        () => outcomes.push(`${name} ${now()}`),
        (error: unknown) => outcomes.push(`${name} ${(error as { kind: string }).kind}`),
      );
    },
    lasts: (ms: number) => {
      walkMs = ms;
    },
  };
}

const deep = (userId: string, marketId = "a") => order(marketId, 1, { userId, quantity: DEEP });
const few = (userId: string, marketId = "a") => order(marketId, 2, { userId, quantity: 2500 });

test("after an atomic batch that was long and rejected, others rest 3 times as long, its user 40", async (t) => {
  const { clock, lasts, outcomes, placeAllOrNone, watch } = slowDatabase((call) =>
    ordersOf(call).map((each, index) => (index === 1 ? withCode("LOSS_LIMIT") : accepted(each))),
  );
  lasts(120);
  watch("walk", placeAllOrNone([deep("ann"), few("ann")]));
  await clock.pass(120);
  lasts(0);
  watch("ann deep", placeAllOrNone([deep("ann")]));
  watch("ann elsewhere", placeAllOrNone([deep("ann", "b")]));
  watch("bob deep", placeAllOrNone([deep("bob")]));
  watch("cy few", placeAllOrNone([few("cy")]));
  await clock.pass(5000);
  // The limiter looks again every 50 ms.
  t.deepEqual(outcomes, [
    "walk 120",
    "cy few 120",
    "bob deep 420",
    "ann deep 4120",
    "ann elsewhere 4120",
  ]);
});

test("a batch with a key walks if it is long and some of it is rejected; its replay does not", async (t) => {
  let [codes, replayed]: [(string | null)[], boolean] = [[], false];
  const { clock, lasts, outcomes, placeKeyed, watch } = slowDatabase(() => [
    { ...withCode(""), ...{ code: null, replayed }, body: bodyOf(codes) },
  ]);
  const bodyOf = (all: (string | null)[]) =>
    JSON.stringify({ results: all.map((code) => ({ code })) });
  const key = { idempotencyKey: "k", requestFingerprint: "f", atomic: false };
  const place = (name: string, request = deep("ann")) => {
    watch(name, placeKeyed({ userId: "ann", orders: [request, few("ann")], ...key }));
  };
  lasts(120);
  codes = [null, null];
  place("accepted");
  await clock.pass(120);
  [codes, replayed] = [["LOSS_LIMIT", null], true];
  place("replay");
  await clock.pass(120);
  codes = ["POST_ONLY_WOULD_CROSS", "LOSS_LIMIT"];
  place("not deep", few("ann"));
  await clock.pass(120);
  [codes, replayed] = [["LOSS_LIMIT", null], false];
  place("walk");
  await clock.pass(120);
  place("behind it");
  await clock.pass(4200);
  t.deepEqual(outcomes, [
    ...["accepted 120", "replay 240", "not deep 240"],
    ...["walk 480", "behind it 4600"],
  ]);
});

test("an amendment that was long and rejected makes amendments, batches and orders of its market rest", async (t) => {
  let code: string | null = null;
  const { amend, clock, lasts, outcomes, place, placeAllOrNone, watch } = slowDatabase((call) =>
    isCommand(call)
      ? [{ ...withCode(""), code, body: "{}" }]
      : ordersOf(call).map((each) => accepted(each)),
  );
  const change = (userId: string, price = 99) =>
    amend({ userId, orderId: "o", price, quantity: null });
  lasts(120);
  watch("accepted", change("bob"));
  await clock.pass(120);
  code = "LOSS_LIMIT";
  watch("walk", change("ann"));
  await clock.pass(120);
  [code] = [null];
  lasts(1);
  watch("amendment", change("bob"));
  watch("order", place(deep("cy")));
  watch("small", change("dan", 98));
  await clock.pass(290);
  t.deepEqual(outcomes, ["accepted 120", "walk 240", "small 240"]);
  await clock.pass(20);
  t.deepEqual(
    outcomes
      .slice(3)
      .map((text) => text.split(" ")[0])
      .sort(),
    ["amendment", "order"],
  );
  watch("batch of ann", placeAllOrNone([deep("ann")]));
  await clock.pass(3600);
  t.is(outcomes.length, 5);
  await clock.pass(100);
  t.regex(outcomes.at(-1)!, /^batch of ann 42\d\d$/);
});

test("a walk counts as a second at most, and a short one ends no rest of a long one", async (t) => {
  let now = 0;
  const walks = createWalks(() => now);
  const single = (userId: string) => ({ marketIds: ["a"], userIds: [userId] });
  const walk = (userId: string, tookMs: number) =>
    walks.watch(
      single(userId),
      async () => (now += tookMs),
      () => true,
    );
  await walk("ann", 5000);
  t.deepEqual(
    ["ann", "bob"].map((user) => walks.restMs(single(user))),
    [40_000, 3000],
  );
  now += 79;
  await walk("bob", 21);
  t.deepEqual(
    ["ann", "bob", "cy"].map((user) => walks.restMs(single(user))),
    [...[39_900, 39_900], 2900],
  );
  t.deepEqual(
    ["ann", "bob", "cy"].map((user) => walks.restMs({ marketIds: ["b"], userIds: [user] })),
    [...[39_900, 40], 0],
    "its user rests in all markets",
  );
  now += 2900;
  t.deepEqual(
    ["ann", "cy"].map((user) => walks.restMs(single(user))),
    [37_000, 0],
  );
  now += 60_000;
  await walk("cy", 120);
  t.is(walks.restMs(single("ann")), 300, "a walk of long ago counts no more");
});

test("what waited for a lock has not walked; what ended by its time has", async (t) => {
  let now = 0;
  const walks = createWalks(() => now);
  const single = { marketIds: ["a"], userIds: ["ann"] };
  const pass = async (ms: number) => (now += ms);
  const isRejected = () => true;
  await walks.watch(single, () => pass(20), isRejected);
  t.is(walks.restMs(single), 0);
  for (const [code, restMs] of [
    ["55P03", 0],
    ["57014", 40_000],
  ] as const) {
    const attempt = () => pass(15_000).then(() => Promise.reject(databaseError(code)));
    await t.throwsAsync(walks.watch(single, attempt, isRejected), { code });
    t.is(walks.restMs(single), restMs, code);
  }
});
