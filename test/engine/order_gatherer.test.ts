import test from "ava";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import { databaseError, fakePool } from "../http/fake_pool.ts";
import type { OrderGathererOptions } from "../../src/engine/order_gatherer.ts";
import type { FakeCall } from "../http/fake_pool.ts";
import {
  accept,
  accepted,
  bodies,
  heldDatabase,
  kindOf,
  order,
  ordersOf,
  readyDatabase,
  restlessClock,
  retries,
  shown,
  skips,
  tick,
  ticks,
  waits,
  withCode,
} from "./fake_gatherers.ts";

/** Which orders share a call, and what becomes of them when it fails. */

test("an order that comes alone is placed at once and alone, and does not wait for locks", async (t) => {
  const { calls, place } = readyDatabase();
  t.is((await place(order("a", 1))).body, "1");
  t.is((await place(order("a", 2))).body, "2");
  t.deepEqual(calls(), ["a1", "a2"]);
});

test("orders that come at the same time are placed together, also of several markets", async (t) => {
  const { calls, place } = readyDatabase();
  const orders = [order("a", 1), order("b", 2), order("a", 3), order("c", 4)];
  t.deepEqual(bodies(await Promise.all(orders.map((each) => place(each)))), ["1", "2", "3", "4"]);
  t.deepEqual(calls(), ["a1 b2 c4 a3"]);
});

test("a market is in one call at a time; the others do not wait for it", async (t) => {
  const { end, pass, place, underWay } = heldDatabase();
  const placed = [place(order("a", 1))];
  await ticks(2);
  placed.push(place(order("a", 2)), place(order("b", 3)), place(order("a", 4)));
  await ticks(2);
  pass(20);
  await ticks(2);
  t.deepEqual(underWay(), ["a1", "b3"]);
  await end("b3");
  t.deepEqual(underWay(), ["a1"]);
  await end("a1");
  t.deepEqual(underWay(), ["a2 a4"]);
  await end("a2 a4");
  t.deepEqual(bodies(await Promise.all(placed)), ["1", "2", "3", "4"]);
});

test("while no connection is free, orders of all markets gather for the next call", async (t) => {
  const { end, place, underWay } = heldDatabase(accept, { connections: 1 });
  const placed = [place(order("a", 1))];
  await ticks(2);
  for (const [index, market] of ["b", "c", "a", "b"].entries()) {
    placed.push(place(order(market, index + 2)));
    await tick();
  }
  t.deepEqual(underWay(), ["a1"]);
  await end("a1");
  t.deepEqual(underWay(), ["b2 c3 a4 b5"]);
  await end("b2 c3 a4 b5");
  t.deepEqual(bodies(await Promise.all(placed)), ["1", "2", "3", "4", "5"]);
});

test("a call has 200 orders at most; the others are in the next call, other markets first", async (t) => {
  const { calls, place } = readyDatabase();
  const orders = Array.from({ length: 201 }, (_, index) => order("a", index + 1));
  const placed = [...orders, order("b", 202)].map((each) => place(each));
  t.is((await Promise.all(placed)).length, 202);
  t.deepEqual(
    calls().map((call) => call.split(" ").length),
    [200, 2],
  );
  t.regex(calls()[0] ?? "", /^a1 b202 a2 /);
  t.is(calls()[1], "a200 a201");
});

/** A database in which ann is locked until she is free. */
function databaseOfLockedAnn(options: Partial<OrderGathererOptions> = {}) {
  let isFree = false;
  const database = heldDatabase(
    (call) =>
      ordersOf(call).map((each) =>
        each.userId === "ann" && !isFree ? withCode("AGAIN") : accepted(each),
      ),
    options,
  );
  const free = () => {
    isFree = true;
  };
  return { ...database, free };
}

test("AGAIN: the orders of a locked user go behind the others of the market, then climb", async (t) => {
  const { drained, end, free, place, underWay } = databaseOfLockedAnn();
  const ofAnn = (marketId: string, price: number) => order(marketId, price, { userId: "ann" });
  const placed = [place(ofAnn("a", 1)), place(order("b", 2))];
  await ticks(2);
  placed.push(place(ofAnn("a", 3)), place(order("a", 4)));
  await end("a1 b2");
  t.deepEqual(underWay(), ["a4 a1 a3 !"]);
  await end("a4 a1 a3 !");
  t.deepEqual(underWay(), ["a1 a3 !"], "the first was another's");
  placed.push(place(order("a", 5)));
  await end("a1 a3 !");
  t.deepEqual(underWay(), ["a1 !"], "its later one waits for it, and the lane for this call");
  free();
  for (const name of ["a1 !", "a5 a3 !"]) await end(name);
  t.deepEqual(bodies(await Promise.all(placed)), ["1", "2", "3", "4", "5"]);
  await drained();
});

test("while an order climbs, calls of its lane alone skip what is locked from the start", async (t) => {
  const skipping: string[] = [];
  const { end, pass, place, underWay } = heldDatabase((call) => {
    if (skips(call)) skipping.push(shown(call));
    const isLocked = !skips(call) && !shown(call).endsWith("!!");
    return ordersOf(call).map((each) => (isLocked ? withCode("AGAIN") : accepted(each)));
  });
  const placed = [place(order("a", 1)), place(order("a", 2))];
  await ticks(2);
  for (const name of ["a1 a2", "a1 a2 !", "a1 !", "a2 !"]) await end(name);
  pass(5);
  await ticks(4);
  t.deepEqual(underWay(), ["a1 !!"]);
  await end("a1 !!");
  t.deepEqual(bodies(await Promise.all(placed)), ["1", "2"]);
  t.deepEqual(skipping, ["a2 !"]);
});

test("55P03: an order whose user stays locked fails when its time is over", async (t) => {
  const { calls, drained, place } = readyDatabase(
    (call) => {
      if (waits(call)) throw databaseError("55P03");
      return ordersOf(call).map(() => withCode("AGAIN"));
    },
    { retries: { ...retries, attempts: 2, lockPatienceMs: 0 } },
  );
  t.is(kindOf(await t.throwsAsync(place(order("a", 1)))), "conflict");
  t.deepEqual(calls(), ["a1", "a1 !", "a1", "a1 !", "a1 !"]);
  await drained();
});

test("AGAIN: the market goes alone and waits for its lock; the others go on", async (t) => {
  let isHeld = true;
  const answer = (call: FakeCall) =>
    ordersOf(call).map((each) =>
      each.marketId === "a" && isHeld && !waits(call) ? withCode("AGAIN") : accepted(each),
    );
  const { calls, end, place, underWay } = heldDatabase(answer);
  const first = [place(order("a", 1)), place(order("b", 2)), place(order("a", 3))];
  await ticks(2);
  await end("a1 b2 a3");
  t.is((await first[1]!).body, "2");
  t.deepEqual(underWay(), ["a1 a3 !"]);

  // While it waits there, orders of all others come and go.
  const later = [place(order("c", 4)), place(order("a", 5)), place(order("b", 6))];
  await ticks(2);
  t.deepEqual(underWay(), ["a1 a3 !", "c4 b6"]);
  await end("c4 b6");
  isHeld = false;
  await end("a1 a3 !");
  // A success steps down.
  t.deepEqual(underWay(), ["a5"]);
  await end("a5");
  const last = [place(order("a", 7)), place(order("b", 8))];
  await ticks(2);
  await end("a7 b8");
  t.is(bodies(await Promise.all([...first, ...later, ...last])).join(" "), "1 2 3 4 5 6 7 8");
  t.is(calls().length, 5);
});

test("a market that goes alone sends 32 orders in a call", async (t) => {
  const { end, place, underWay } = heldDatabase((call) =>
    ordersOf(call).map((each) => (waits(call) ? accepted(each) : withCode("AGAIN"))),
  );
  const names = Array.from({ length: 34 }, (_, index) => `a${index}`);
  const placed = names.map((_, index) => place(order("a", index)));
  await ticks(2);
  await end(names.join(" "));
  await end(`${names.slice(0, 32).join(" ")} !`);
  t.deepEqual(underWay(), ["a32 a33 !"]);
  await end("a32 a33 !");
  t.is((await Promise.all(placed)).length, 34);
});

for (const [connections, counts] of [
  [2, { shared: 1, alone: 1, single: 1 }],
  [4, { shared: 3, alone: 2, single: 1 }],
  [12, { shared: 9, alone: 6, single: 2 }],
] as const) {
  test(`calls under way at once, with ${connections} connections`, async (t) => {
    for (const rung of ["shared", "alone", "single"] as const) {
      const { end, pass, place, underWay } = heldDatabase(
        (call) =>
          ordersOf(call).map((each) => {
            const isHigh = rung === "single" ? shown(call).endsWith("!!") : waits(call);
            return rung === "shared" || isHigh ? accepted(each) : withCode("AGAIN");
          }),
        { connections },
      );
      const placed: Promise<unknown>[] = [];
      for (let number = 1; number <= 13; number++) {
        placed.push(place(order(`m${number}-`, number)));
        await ticks(2);
        if (rung === "shared") pass(50);
        else await end(underWay().find((name) => !name.endsWith("!")) ?? "");
        await ticks(2);
      }
      if (rung === "single") {
        while (underWay().some((name) => name.endsWith(" !"))) {
          await end(underWay().find((name) => name.endsWith(" !")) ?? "");
        }
        pass(5);
        await ticks(4);
      }
      t.is(underWay().length, counts[rung], rung);
      while (underWay().length > 0) {
        await end(underWay()[0] ?? "");
        pass(5);
        await ticks(4);
      }
      t.is((await Promise.all(placed)).length, 13);
    }
  });
}

test("55P03: the call is made again without waiting for locks, once", async (t) => {
  const seen: unknown[] = [];
  const { calls, place } = readyDatabase((call) => {
    seen.push(skips(call));
    if (seen.length === 1) throw databaseError("55P03");
    return accept(call);
  });
  const orders = [order("a", 1), order("b", 2), order("a", 3)];
  t.deepEqual(bodies(await Promise.all(orders.map((each) => place(each)))), ["1", "2", "3"]);
  await place(order("a", 4));
  t.deepEqual(calls(), ["a1 b2 a3", "a1 b2 a3", "a4"]);
  t.deepEqual(seen, [false, true, false]);
});

for (const code of ["40001", "40P01"]) {
  test(`${code}: a shared call is repeated in parts, and clients see no error`, async (t) => {
    let failures = 1;
    const { calls, destroyed, place } = readyDatabase((call) => {
      if (failures-- > 0) throw databaseError(code);
      return accept(call);
    });
    const orders = [order("a", 1), order("b", 2), order("a", 3)];
    t.deepEqual(bodies(await Promise.all(orders.map((each) => place(each)))), ["1", "2", "3"]);
    t.deepEqual(calls(), ["a1 b2 a3", "a1 a3 !", "b2 !"]);
    // Each went well by itself, so they share a call again.
    await Promise.all([order("a", 4), order("b", 5)].map((each) => place(each)));
    t.is(calls()[3], "a4 b5");
    // The session is as good as before.
    t.is(destroyed(), 0);
  });

  test(`${code} again and again in one market: its orders fail, the others do not`, async (t) => {
    const { calls, place } = readyDatabase(
      (call) => {
        if (ordersOf(call).some(({ marketId }) => marketId === "a")) throw databaseError(code);
        return accept(call);
      },
      { unfinishedForMs: 1 },
    );
    const orders = [order("a", 1), order("b", 2), order("a", 3)];
    const results = await Promise.allSettled(orders.map((each) => place(each)));
    t.deepEqual(
      results.map((result) =>
        result.status === "rejected" ? kindOf(result.reason) : result.value.body,
      ),
      ["conflict", "2", "conflict"],
    );
    t.deepEqual([...new Set(calls())].sort(), ["a1 !", "a1 a3 !", "a1 b2 a3", "a3 !", "b2 !"]);
  });
}

test("a market whose lock times out again and again is tried until its orders have waited too long", async (t) => {
  const { calls, pass, place } = readyDatabase(
    () => {
      pass(1000);
      throw databaseError("55P03");
    },
    { unfinishedForMs: 5000 },
  );
  t.is(kindOf(await t.throwsAsync(place(order("a", 1)))), "conflict");
  t.deepEqual(calls().slice(0, 3), ["a1", "a1", "a1 !"]);
});

test("without a connection all waiting orders fail at once, and later ones are served", async (t) => {
  let down = true;
  let attempts = 0;
  const { calls, pool } = fakePool({
    answer: accept,
    connect: async () => {
      attempts += 1;
      await tick();
      if (down) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    },
  });
  const gatherer = createOrderGatherer({ pool, retries: { ...retries, attempts: 3 } });
  const orders = ["a", "b", "a", "c", "a"].map((market, index) => order(market, index));
  const results = await Promise.allSettled(orders.map((each) => gatherer.place(each)));
  t.deepEqual(
    results.map((result) => result.status === "rejected" && kindOf(result.reason)),
    orders.map(() => "unreachable"),
  );
  t.is(attempts, 3);
  t.is(calls.length, 0);
  down = false;
  t.is((await gatherer.place(order("a", 6))).body, "6");
});

for (const [name, failure] of [
  ["connection terminated", new Error("Connection terminated unexpectedly")],
  ["session ended by an administrator", databaseError("57P01", "FATAL")],
  ["session ended, said in another language", databaseError("57P01", "FATALE")],
  ["socket error", Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })],
] as const) {
  test(`${name} under way: the outcome is unknown, and the call is not made again`, async (t) => {
    const { calls, place } = readyDatabase(() => {
      throw failure;
    });
    const results = await Promise.allSettled(
      [order("a", 1), order("b", 2)].map((each) => place(each)),
    );
    t.deepEqual(
      results.map((result) => result.status === "rejected" && kindOf(result.reason)),
      ["lost", "lost"],
    );
    t.is(calls().length, 1);
  });
}

test("a request that makes calls fail fails alone; the others are placed in order", async (t) => {
  const { calls, place } = readyDatabase((call) => {
    if (ordersOf(call).some(({ price }) => price === 2)) throw databaseError("22P02");
    return accept(call);
  });
  const orders = [order("a", 1), order("a", 2), order("a", 3), order("b", 4)];
  const results = await Promise.allSettled(orders.map((each) => place(each)));
  t.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value.body : "failed")),
    ["1", "failed", "3", "4"],
  );
  t.is(calls()[0], "a1 b4 a2 a3");
  t.deepEqual(calls().slice(1).sort(), ["a1 !", "a1 a2 a3 !", "a2 !", "a2 a3 !", "a3 !", "b4 !"]);
});

test("after a call that failed, orders of one user do not overtake each other", async (t) => {
  const taken: unknown[] = [];
  const { end, pass, place, underWay } = heldDatabase((call) => {
    if (ordersOf(call).some(({ price }) => price === 2)) throw databaseError("22P02");
    taken.push(...ordersOf(call).map(({ price }) => price));
    return accept(call);
  });
  const placeOne = (price: number) =>
    place(order("a", price, { userId: "ann" })).catch(() => undefined);
  const placed = [1, 2, 3].map(placeOne);
  await ticks(2);
  placed.push(placeOne(4));
  for (const [index, name] of ["a1 a2 a3", "a1 a2 a3 a4 !"].entries()) {
    await end(name);
    placed.push(placeOne(5 + index));
    await ticks(2);
  }
  while (taken.length < 5) {
    pass(5);
    await ticks(4);
    for (const name of underWay()) await end(name);
  }
  await Promise.all(placed);
  t.deepEqual(taken, [1, 3, 4, 5, 6]);
});

test("results that don't match the orders are discarded, and no order is placed twice", async (t) => {
  const { calls, place } = readyDatabase((call) => accept(call).slice(1));
  const results = await Promise.allSettled(
    [order("a", 1), order("b", 2)].map((each) => place(each)),
  );
  t.true(results.every((result) => result.status === "rejected"));
  t.is(calls().length, 1);
});

test.serial("an error of onCommitted leaves the orders alone: none is placed twice", async (t) => {
  const uncaught: unknown[] = [];
  process.setUncaughtExceptionCaptureCallback((error) => uncaught.push(error));
  const wrong = new TypeError("wrong");
  const onCommitted = () => {
    throw wrong;
  };
  const { calls, place, placeAllOrNone } = readyDatabase(accept, { onCommitted });
  const orders = [order("a", 1), order("b", 2), order("a", 3)];
  const placed = Promise.allSettled(orders.map((each) => place(each)));
  const all = placeAllOrNone([order("c", 4)]);
  const results = await placed;
  t.deepEqual(
    results.map((result) => result.status === "fulfilled" && result.value.body),
    ["1", "2", "3"],
  );
  t.deepEqual(bodies(await all), ["4"]);
  process.setUncaughtExceptionCaptureCallback(null);
  t.deepEqual(calls().sort(), ["a1 b2 a3", "c4 !"]);
  t.deepEqual(uncaught, [wrong, wrong]);
});

test("drained waits for waiting orders and for calls under way", async (t) => {
  const { drained, place, placeAllOrNone } = readyDatabase();
  let answered = 0;
  const orders = [order("a", 1), order("a", 2), order("b", 3)].map(async (each) => {
    await place(each);
    answered += 1;
  });
  const all = placeAllOrNone([order("c", 4)]).then(() => (answered += 1));
  await drained();
  await tick();
  t.is(answered, 4);
  await Promise.all([...orders, all]);
  await drained();
});

/** Says of the orders at this price that they are not finished, so many times. */
const unfinished = (price: number, times: number) => (call: FakeCall) =>
  ordersOf(call).map((each) =>
    each.price === price && times-- > 0 ? withCode("CONFLICT_RETRY") : accepted(each),
  );

test("CONFLICT_RETRY as a result: the order is placed again alone, the others have their results", async (t) => {
  const { calls, drained, place } = readyDatabase(unfinished(2, 2));
  const placed = [order("a", 1), order("b", 2), order("b", 3)].map((each) => place(each));
  t.deepEqual(
    (await Promise.all(placed)).map(({ code, body }) => [code, body]),
    [
      [null, "1"],
      [null, "2"],
      [null, "3"],
    ],
  );
  t.deepEqual(calls(), ["a1 b2 b3", "b2 !", "b2 !"]);
  await drained();
});

test("CONFLICT_RETRY as a result is the answer when the time for repeating is over", async (t) => {
  let at = 0;
  const answer = unfinished(2, 1000);
  const { calls, place } = readyDatabase(
    (call) => {
      at = 10;
      return answer(call);
    },
    { now: () => at, unfinishedForMs: 5 },
  );
  t.is((await place(order("a", 2))).code, "CONFLICT_RETRY");
  t.is(calls().length, 1);
});

for (const [name, fails] of [
  ["AGAIN", () => false],
  ["40P01", (call: FakeCall) => ordersOf(call).length > 1],
] as const) {
  test(`${name}: whenever the time of an order is over, it is placed or rejected, not both`, async (t) => {
    for (let unfinishedForMs = 0; unfinishedForMs < 100; unfinishedForMs++) {
      const taken: unknown[] = [];
      const { place } = readyDatabase(
        (call) => {
          if (fails(call)) throw databaseError("40P01");
          return ordersOf(call).map((each) => {
            if (!waits(call)) return withCode("AGAIN");
            taken.push(String(each.price));
            return accepted(each);
          });
        },
        { ...restlessClock(), unfinishedForMs },
      );
      const placed: unknown[] = [];
      const rejected: unknown[] = [];
      for (const each of [order("a", 1), order("a", 2), order("a", 3)]) {
        void place(each).then(
          ({ body }) => placed.push(body),
          (error: unknown) => rejected.push(kindOf(error)),
        );
      }
      await ticks(40);
      t.is(placed.length + rejected.length, 3, `${unfinishedForMs} ms`);
      t.deepEqual(placed, taken);
      t.true(rejected.every((kind) => kind === "conflict"));
    }
  });
}
