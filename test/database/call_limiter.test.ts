import test from "ava";
import { createCallLimiter } from "../../src/database/call_limiter.ts";
import type { CallLimiterOptions, Holds } from "../../src/database/call_limiter.ts";
import { previewLimits } from "../../src/engine/user_turns.ts";
import { commandLimits } from "../../src/engine/ladder.ts";

/** Calls that end when a test ends them, and timers that run out when a test says so. */

type Kind = "user" | "market";

const ticks = async () => {
  for (let done = 0; done < 4; done++) await new Promise((resolve) => setImmediate(resolve));
};

function limited(options: Omit<CallLimiterOptions<Kind>, "later">) {
  const timers = new Set<() => void>();
  const limiter = createCallLimiter({
    ...options,
    later: (work) => {
      timers.add(work);
      return () => timers.delete(work);
    },
  });
  const atWork = new Map<string, () => void>();
  const outcomes: string[] = [];
  return {
    timers,
    outcomes,
    atWork: () => [...atWork.keys()].join(" "),
    call: async (name: string, line: string, holds: Holds<Kind>, restMs?: () => number) => {
      const turn = limiter.turn(line, holds, restMs && { restMs });
      const outcome = turn(() => new Promise<void>((end) => atWork.set(name, end))).then(
        () => `${name} done`,
        (error: unknown) => `${name} ${(error as { kind: string }).kind}`,
      );
      void outcome.then((text) => outcomes.push(text));
      await ticks();
    },
    end: async (name: string) => {
      const end = atWork.get(name);
      if (end === undefined) throw new Error(`${name} is not at work`);
      atWork.delete(name);
      end();
      await ticks();
    },
  };
}

test("a user has a limited number of calls at work; later calls wait in their order", async (t) => {
  const { atWork, call, end } = limited({ limits: { most: 6, each: { user: 2, market: 6 } } });
  for (const name of ["a1", "a2", "a3", "a4"]) await call(name, "ann", { user: "ann" });
  await call("b1", "bob", { user: "bob" });
  t.is(atWork(), "a1 a2 b1");
  await end("a2");
  t.is(atWork(), "a1 b1 a3");
  await end("a1");
  t.is(atWork(), "b1 a3 a4");
});

test("the total number of calls is limited; the queues of users take turns", async (t) => {
  const { atWork, call, end } = limited({ limits: { most: 1, each: { user: 1, market: 1 } } });
  for (const name of ["a1", "a2", "a3", "a4"]) await call(name, "ann", { user: "ann" });
  await call("b1", "bob", { user: "bob" });
  await call("b2", "bob", { user: "bob" });
  const order = [];
  for (let turn = 0; turn < 6; turn++) {
    order.push(atWork());
    await end(atWork());
  }
  t.deepEqual(order, ["a1", "a2", "b1", "a3", "b2", "a4"]);
});

test("one line may have every second turn, however many others wait; it never has two", async (t) => {
  const limits = { most: 1, each: { user: 1, market: 1 }, often: "lanes" };
  const { atWork, call, end } = limited({ limits });
  await call("first", "ann", { user: "ann" });
  for (const user of ["bob", "cy", "dan", "eve"]) await call(user, user, { user });
  for (const name of ["l1", "l2", "l3"]) await call(name, "lanes", {});
  const order = [];
  for (let turn = 0; turn < 8; turn++) {
    order.push(atWork());
    await end(atWork());
  }
  t.deepEqual(order, ["first", "l1", "bob", "l2", "cy", "l3", "dan", "eve"]);
});

test("a market has a limited number of calls at work, of all users; other markets pass", async (t) => {
  const { atWork, call, end } = limited({ limits: { most: 6, each: { user: 2, market: 2 } } });
  for (const user of ["ann", "bob", "cy", "dan"]) await call(user, user, { user, market: "full" });
  await call("eve", "eve", { user: "eve", market: "other" });
  t.is(atWork(), "ann bob eve");
  await end("bob");
  t.is(atWork(), "ann eve cy");
});

test("a call of several markets counts against each of them", async (t) => {
  const { atWork, call, end } = limited({ limits: { most: 6, each: { user: 2, market: 1 } } });
  await call("ann", "ann", { user: "ann", market: "x" });
  await call("bob", "bob", { user: "bob", market: ["x", "y"] });
  await call("cy", "cy", { user: "cy", market: "y" });
  t.is(atWork(), "ann cy");
  await end("ann");
  t.is(atWork(), "cy");
  await end("cy");
  t.is(atWork(), "bob");
  await call("dan", "dan", { user: "dan", market: "y" });
  t.is(atWork(), "bob");
});

test("overloaded: a call has waited too long; the calls behind it go on", async (t) => {
  const { atWork, call, end, outcomes, timers } = limited({
    limits: { most: 6, each: { user: 2, market: 1 } },
  });
  await call("a1", "ann", { user: "ann", market: "x" });
  t.is(timers.size, 0, "a call that waits for nothing needs no timer");
  await call("a2", "ann", { user: "ann", market: "x" });
  await call("a3", "ann", { user: "ann", market: "y" });
  t.is(atWork(), "a1", "a user's calls stay in their order");
  const [oldest] = timers;
  timers.delete(oldest!);
  oldest?.();
  await ticks();
  t.deepEqual(outcomes, ["a2 overloaded"]);
  t.is(atWork(), "a1 a3");
  t.is(timers.size, 0);
  await end("a1");
  t.deepEqual(outcomes, ["a2 overloaded", "a1 done"]);
});

test("overloaded: a call comes while the queue is full; later there is room again", async (t) => {
  const { atWork, call, end, outcomes } = limited({
    limits: { most: 1, each: { user: 1, market: 1 } },
    waitingCap: 1,
  });
  await call("a1", "ann", { user: "ann" });
  await call("a2", "ann", { user: "ann" });
  await call("b1", "bob", { user: "bob" });
  t.deepEqual(outcomes, ["b1 overloaded"]);
  await end("a1");
  await call("b2", "bob", { user: "bob" });
  t.is(atWork(), "a2");
  await end("a2");
  t.is(atWork(), "b2");
});

test("overloaded: a line has a quarter of the queue; other lines still have room", async (t) => {
  const { atWork, call, end, outcomes } = limited({
    limits: { most: 1, each: { user: 1, market: 1 } },
    waitingCap: 8,
  });
  for (const name of ["a1", "a2", "a3", "a4"]) await call(name, "ann", { user: "ann" });
  t.deepEqual(outcomes, ["a4 overloaded"]);
  await call("b1", "bob", { user: "bob" });
  await end("a1");
  await call("a5", "ann", { user: "ann" });
  t.deepEqual(outcomes, ["a4 overloaded", "a1 done"]);
  t.is(atWork(), "a2");
});

test("a failed call frees its places", async (t) => {
  const limiter = createCallLimiter({ limits: { most: 1, each: { user: 1 } } });
  const turn = limiter.turn("ann", { user: "ann" });
  await t.throwsAsync(turn(() => Promise.reject(new Error("no"))));
  t.is(await turn(() => Promise.resolve("yes")), "yes");
});

test("calls that wait for locks and previews leave one of two connections free", (t) => {
  for (let connections = 1; connections <= 100; connections++) {
    const { most, each } = commandLimits(connections);
    for (const limit of [most, ...Object.values(each)]) t.true(Number.isInteger(limit));
    t.true(most < connections || connections === 1);
    t.true(each.user < most || connections < 4, "one user leaves some to the others");
    t.true(each.market < most || connections < 4);
    t.true(each.alone < most || connections < 4, "orders leave some to cancels");
    t.true(each.single < each.alone || connections < 4, "deep orders leave some to others");
    t.true(Math.min(...Object.values(each)) >= 1);
    t.true(previewLimits(connections).most < connections || connections === 1);
  }
});

for (const [connections, most, each] of [
  [2, 1, { alone: 1, single: 1, command: 1, user: 1, market: 1, one: 1 }],
  [4, 3, { alone: 2, single: 1, command: 2, user: 1, market: 1, one: 1 }],
  [12, 9, { alone: 6, single: 2, command: 6, user: 3, market: 3, one: 1 }],
] as const) {
  test(`the limits of ${connections} connections`, (t) => {
    t.deepEqual(commandLimits(connections), { most, each, often: "lanes" });
  });
}

test("a call that rests waits, also if its rest becomes longer; other lines overtake it", async (t) => {
  const { atWork, call, end, outcomes, timers } = limited({
    limits: { most: 2, each: { user: 2, market: 2 } },
  });
  let restMs = 30;
  /** Of the timers; the others are of the patience of calls. */
  const lookAgain = async (index: number) => {
    const look = [...timers].at(index);
    timers.delete(look!);
    look?.();
    await ticks();
  };
  await call("a1", "ann", { user: "ann" }, () => restMs);
  await call("a2", "ann", { user: "ann" });
  await call("b1", "bob", { user: "bob" });
  t.is(atWork(), "b1", "the calls of a line stay in their order");
  restMs = 10;
  await lookAgain(0);
  t.is(atWork(), "b1");
  restMs = 0;
  await lookAgain(-1);
  t.is(atWork(), "b1 a1");
  await end("a1");
  t.is(atWork(), "b1 a2");
  for (const name of ["b1", "a2"]) await end(name);
  t.deepEqual(outcomes, ["a1 done", "b1 done", "a2 done"]);
});
