import test from "ava";
import type { CommandResult, OrderRequest } from "../../src/database/calls.ts";
import { createCallLimiter } from "../../src/database/call_limiter.ts";
import { commandLimits } from "../../src/engine/ladder.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import type { OrderGathererOptions } from "../../src/engine/order_gatherer.ts";
import { databaseError, fakePool } from "../http/fake_pool.ts";
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
  shown,
  ticks,
  withCode,
} from "./fake_gatherers.ts";

/** What waits while much is under way: how long, and how much of one user. */

/** A held database with orders that come to it, some at once. */
function heldDatabaseOfOrders() {
  const database = heldDatabase();
  const placed: Promise<CommandResult>[] = [];
  const begin = async (...orders: OrderRequest[]) => {
    placed.push(...orders.map((each) => database.place(each)));
    await ticks(2);
  };
  return { ...database, begin, placed };
}

test("beside a call under way, few orders wait for 20 ms, many do not wait", async (t) => {
  const { begin, end, pass, placed, underWay } = heldDatabaseOfOrders();
  await begin(order("a", 2));
  await begin(order("b", 3));
  pass(19);
  await begin(order("c", 4));
  t.deepEqual(underWay(), ["a2"]);
  pass(1);
  await ticks(2);
  t.deepEqual(underWay(), ["a2", "b3 c4"], "b3 has waited for 20 ms");

  await begin(order("d", 5));
  await end("b3 c4");
  t.deepEqual(underWay(), ["a2"]);
  await end("a2");
  t.deepEqual(underWay(), ["d5"], "no call is under way, so it waits no longer");

  const many = Array.from({ length: 50 }, (_, index) => order(`m${index % 2}-`, index));
  await begin(...many.slice(1));
  t.deepEqual(underWay(), ["d5"]);
  await begin(...many.slice(0, 1));
  t.is(underWay().length, 2, "50 orders do not wait");
  await end(underWay()[1] ?? "");
  await end("d5");
  t.true((await Promise.all(placed)).every(({ code }) => code === null));
});

test("what a call leaves of many orders does not wait for its end", async (t) => {
  const { begin, end, placed, underWay } = heldDatabaseOfOrders();
  await begin(...Array.from({ length: 250 }, (_, index) => order(`m${index}-`, index)));
  await ticks(2);
  t.deepEqual(
    underWay().map((name) => name.split(" ").length),
    [200, 50],
  );
  while (underWay().length > 0) await end(underWay()[0] ?? "");
  t.is((await Promise.all(placed)).length, 250);
});

test("a shared call that waits for its connection takes what comes, and no other begins", async (t) => {
  let connects = 0;
  let connect = (): void => undefined;
  const connected = new Promise<void>((resolve) => {
    connect = resolve;
  });
  const { calls, pool } = fakePool({
    answer: accept,
    connect: async () => {
      connects++;
      await connected;
    },
  });
  const { place } = createOrderGatherer({ pool });
  const placed = [place(order("a", 0))];
  await ticks(2);
  for (let price = 1; price < 60; price++) placed.push(place(order("b", price)));
  await ticks(2);
  t.is(connects, 1);
  connect();
  t.is((await Promise.all(placed)).length, 60);
  t.deepEqual(
    calls.map((call) => ordersOf(call).length),
    [60],
  );
});

test("an order waits for 20 ms, also if its lane was under way behind others", async (t) => {
  const { begin, end, pass, placed, underWay } = heldDatabaseOfOrders();
  await begin(order("a", 1));
  await begin(order("b", 2));
  pass(20);
  await ticks(2);
  t.deepEqual(underWay(), ["a1", "b2"]);
  await begin(order("a", 3));
  pass(15);
  await begin(order("c", 4));
  await end("a1");
  t.deepEqual(underWay(), ["b2"], "c4 is ready longer than a3, which is older");
  pass(5);
  await ticks(2);
  t.deepEqual(underWay(), ["b2", "c4 a3"]);
  for (const names of ["b2", "c4 a3"]) await end(names);
  t.is((await Promise.all(placed)).length, 4);
});

test("the next call is under way before the answers of the last are given", async (t) => {
  const { end, place, underWay } = heldDatabase();
  const first = place(order("a", 1)).then(underWay);
  await ticks(2);
  const second = place(order("a", 2));
  await ticks(2);
  await end("a1");
  t.deepEqual(await first, ["a2"]);
  await end("a2");
  t.is((await second).body, "2");
});

test("orders whose calls get no turn try again after a pause, until they are late", async (t) => {
  const limiter = createCallLimiter({ limits: { ...commandLimits(2), most: 0 }, waitingCap: 0 });
  const again = (call: FakeCall) => ordersOf(call).map(() => withCode("AGAIN"));
  const { calls, end, pass, place } = heldDatabase(again, { limiter });
  const placed = Promise.allSettled([place(order("a", 1)), place(order("b", 2))]);
  await ticks(2);
  await end("a1 b2");
  await ticks(10);
  t.deepEqual(calls(), ["a1 b2"]);
  pass(5000);
  const kinds = (await placed).map((outcome) => "reason" in outcome && kindOf(outcome.reason));
  t.deepEqual(kinds, ["overloaded", "overloaded"]);
});

test("without a turn, orders that become late one after the other all get an answer", async (t) => {
  for (let unfinishedForMs = 0; unfinishedForMs < 100; unfinishedForMs++) {
    const limiter = createCallLimiter({ limits: { ...commandLimits(2), most: 0 }, waitingCap: 0 });
    const { drained, place } = readyDatabase(
      (call) => ordersOf(call).map(() => withCode("AGAIN")),
      { ...restlessClock(), limiter, unfinishedForMs },
    );
    let rejected = 0;
    for (const each of [order("a", 1), order("a", 2), order("a", 3)]) {
      place(each).catch(() => rejected++);
    }
    await ticks(100);
    t.is(rejected, 3, `${unfinishedForMs} ms`);
    await drained();
  }
});

test("an order that is rejected because its call failed waits no longer", async (t) => {
  for (let unfinishedForMs = 0; unfinishedForMs < 100; unfinishedForMs++) {
    const fail = () => {
      throw databaseError("40P01");
    };
    const options = { ...restlessClock(), unfinishedForMs, waitingCap: 4 };
    const { place } = readyDatabase(fail, options);
    const placeOne = () => place(order("a", 1)).catch(kindOf);
    // With a cap of 4, a user has room for one.
    for (let times = 0; times < 2; times++) {
      t.is(await placeOne(), "conflict", `${unfinishedForMs} ms`);
    }
  }
});

test("beyond the cap on orders without an answer new ones are rejected, and room comes back", async (t) => {
  const { end, place, placeAllOrNone } = heldDatabase(accept, { waitingCap: 3, connections: 1 });
  const first = place(order("a", 1));
  await ticks(2);
  const waiting = [place(order("a", 2)), place(order("b", 3))];
  t.is(kindOf(await t.throwsAsync(place(order("c", 4)))), "overloaded");
  t.is(kindOf(await t.throwsAsync(placeAllOrNone([order("c", 4)]))), "overloaded");
  await end("a1");
  await end("b3 a2");
  await Promise.all([first, ...waiting]);
  const later = place(order("a", 5));
  await ticks(2);
  await end("a5");
  t.is((await later).body, "5");
});

test("one user has a quarter of the queue, batches included; others still have room", async (t) => {
  const { end, place, placeKeyed, placeAllOrNone } = heldDatabase(accept, { waitingCap: 20 });
  const ofAnn = (marketId: string, price: number) => order(marketId, price, { userId: "ann" });
  const first = place(ofAnn("a", 1));
  await ticks(2);
  const batch = placeAllOrNone([ofAnn("b", 2), ofAnn("c", 3)]);
  const waiting = [place(ofAnn("a", 4)), place(ofAnn("a", 5))];
  t.is(kindOf(await t.throwsAsync(place(ofAnn("d", 6)))), "overloaded");
  t.is(kindOf(await t.throwsAsync(placeAllOrNone([ofAnn("d", 6)]))), "overloaded");
  const keyed = {
    userId: "ann",
    orders: [ofAnn("d", 6)],
    atomic: false,
    idempotencyKey: "key",
    requestFingerprint: "print",
  };
  t.is(kindOf(await t.throwsAsync(placeKeyed(keyed))), "overloaded");
  const others = place(order("d", 7, { userId: "bob" }));
  await ticks(4);
  await end("b2 c3 !");
  await batch;
  await end("a1");
  const later = place(ofAnn("e", 8));
  await ticks(4);
  for (const name of ["d7 a4 a5", "e8"]) await end(name);
  const placed = await Promise.all([first, ...waiting, others, later]);
  t.is(bodies(placed).join(" "), "1 4 5 7 8");
});

/** A database in which orders of 10,000 shares are too much for a call of several orders. */
function deepDatabase(options: Partial<OrderGathererOptions> = {}) {
  const answer = (call: FakeCall) =>
    ordersOf(call).map((each) =>
      each.quantity === 10_000 && !shown(call).endsWith("!!") ? withCode("AGAIN") : accepted(each),
    );
  return heldDatabase(answer, { connections: 8, ...options });
}

test("a deep order climbs to a call of its own; its user's later ones wait, and others go on", async (t) => {
  const { calls, drained, end, pass, place, underWay } = deepDatabase();
  const ofAnn = (marketId: string, price: number, quantity = 1) =>
    order(marketId, price, { userId: "ann", quantity });
  const placed = [place(ofAnn("a", 1, 10_000))];
  await ticks(4);
  await end("a1");
  placed.push(place(ofAnn("a", 2)), place(order("a", 3)), place(ofAnn("b", 4)));
  await ticks(4);
  t.deepEqual(underWay(), ["a1 !", "b4"], "during this call its market begins no other");
  for (const name of ["b4", "a1 !"]) await end(name);
  t.deepEqual(underWay(), ["a3"], "others go before its next call");
  await end("a3");
  pass(5);
  await ticks(4);
  placed.push(place(order("a", 5)));
  await ticks(4);
  t.deepEqual(underWay(), ["a1 !!"]);
  await end("a1 !!");
  t.deepEqual(underWay(), ["a2 a5"], "a success steps down");
  await end("a2 a5");
  await drained();
  t.is(bodies(await Promise.all(placed)).join(" "), "1 2 3 4 5");
  t.is(calls().length, 6);
});

test("deep orders of one user that were told AGAIN go to no shared call again", async (t) => {
  const { calls, drained, end, place, underWay } = deepDatabase();
  const deep = (price: number) => place(order("a", price, { userId: "ann", quantity: 10_000 }));
  const placed = [deep(1), deep(2), deep(3)];
  await ticks(4);
  await end("a1 a2 a3");
  for (const name of ["a1", "a2", "a3"]) {
    await end(`${name} !`);
    t.deepEqual(underWay(), [`${name} !!`]);
    await end(`${name} !!`);
  }
  await drained();
  t.is(bodies(await Promise.all(placed)).join(" "), "1 2 3");
  t.is(calls().length, 7);
});

test("what waited too long behind an order that climbs is in no call any more", async (t) => {
  const { calls, end, pass, place, underWay } = deepDatabase();
  const ofAnn = (price: number, quantity = 1) => order("a", price, { userId: "ann", quantity });
  const deep = place(ofAnn(1, 10_000));
  await ticks(4);
  await end("a1");
  const later = Promise.allSettled([place(ofAnn(2)), place(ofAnn(3))]);
  await end("a1 !");
  t.deepEqual(underWay(), ["a1 !!"]);
  pass(5001);
  await end("a1 !!");
  t.is((await deep).body, "1");
  const reasons = (await later).map((each) => each.status === "rejected" && kindOf(each.reason));
  t.deepEqual(reasons, ["conflict", "conflict"]);
  t.is(calls().length, 3);
});

test("an order that climbs is in no call after its time, whenever it gets its turn", async (t) => {
  const { calls, drained, end, pass, place, underWay } = deepDatabase({ unfinishedForMs: 3000 });
  const placed = [1, 2].map((number) => place(order("a", number, { quantity: 10_000 })));
  await ticks(4);
  await end("a1 a2");
  for (const name of ["a1 !", "a2 !"]) await end(name);
  t.deepEqual(underWay(), ["a1 !!"]);
  pass(3001);
  await end("a1 !!");
  await drained();
  const [first, second] = await Promise.allSettled(placed);
  t.is(first?.status, "fulfilled");
  t.is(second?.status === "rejected" && kindOf(second.reason), "conflict");
  t.is(calls().length, 4);
});

test("two deep orders have calls of their own at a time; beside them others of their markets go on", async (t) => {
  const { drained, end, pass, place, underWay } = deepDatabase();
  const large = (number: number) => place(order(`m${number}-`, number, { quantity: 10_000 }));
  const placed = [1, 2, 3, 4].map(large);
  await ticks(4);
  await end(underWay()[0] ?? "");
  while (underWay().some((name) => name.endsWith(" !"))) {
    await end(underWay().find((name) => name.endsWith(" !")) ?? "");
  }
  pass(5);
  await ticks(4);
  t.deepEqual(underWay(), ["m1-1 !!", "m2-2 !!"]);
  placed.push(place(order("m3-", 5)));
  await ticks(4);
  t.deepEqual(underWay(), ["m1-1 !!", "m2-2 !!", "m3-5"]);
  await end("m3-5");
  await end("m2-2 !!");
  t.deepEqual(underWay(), ["m1-1 !!", "m3-3 !!"]);
  while (underWay().length > 0) await end(underWay()[0] ?? "");
  t.is((await Promise.all(placed)).length, 5);
  await drained();
});

test("between the single calls of a market its other orders go", async (t) => {
  const { drained, end, pass, place, underWay } = deepDatabase();
  const placed = [1, 2].map((number) => place(order("a", number, { quantity: 10_000 })));
  await ticks(4);
  await end("a1 a2");
  for (const name of ["a1 !", "a2 !"]) await end(name);
  t.deepEqual(underWay(), ["a1 !!"], "one of a market at a time");
  placed.push(place(order("a", 3)));
  await ticks(4);
  await end("a1 !!");
  t.deepEqual(underWay(), ["a3"]);
  await end("a3");
  pass(5);
  await ticks(4);
  t.deepEqual(underWay(), ["a2 !!"]);
  await end("a2 !!");
  t.is(bodies(await Promise.all(placed)).join(" "), "1 2 3");
  await drained();
});

test("orders that climb count as orders that wait, until they are done", async (t) => {
  const { end, pass, place } = deepDatabase({ waitingCap: 4 });
  const large = place(order("a", 1, { userId: "ann", quantity: 10_000 }));
  await ticks(4);
  for (const name of ["a1", "a1 !"]) await end(name);
  const refused = place(order("b", 2, { userId: "ann" }));
  t.is(kindOf(await t.throwsAsync(refused)), "overloaded");
  pass(5);
  await ticks(4);
  await end("a1 !!");
  t.is((await large).body, "1");
  const later = place(order("b", 3, { userId: "ann" }));
  await ticks(4);
  await end("b3");
  t.is((await later).body, "3");
});

test("an order by itself that fails is answered so, and what waited for it goes on", async (t) => {
  const answer = (call: FakeCall) => {
    if (shown(call).endsWith("!!")) throw new Error("lost");
    return ordersOf(call).map((each) => (each.price === 1 ? withCode("AGAIN") : accepted(each)));
  };
  const { drained, end, pass, place } = heldDatabase(answer);
  const first = place(order("a", 1, { userId: "ann" }));
  await ticks(4);
  for (const name of ["a1", "a1 !", "a1 !"]) await end(name);
  const second = place(order("a", 2, { userId: "ann" }));
  pass(5);
  await ticks(4);
  const failure = t.throwsAsync(first);
  await end("a1 !!");
  t.regex((await failure).message, /lost/);
  await end("a2");
  t.is((await second).body, "2");
  await drained();
});

test("after a long walk that is rejected, others of the market go first", async (t) => {
  const { end, drained, pass, place, underWay } = heldDatabase((call) =>
    ordersOf(call).map((each) => {
      if (each.quantity !== 10_000) return accepted(each);
      return withCode(shown(call).endsWith("!!") ? "INSUFFICIENT_LIQUIDITY" : "AGAIN");
    }),
  );
  const WALKS = 6;
  let walks = 0;
  const between: number[] = [];
  let placedBetween = 0;
  const attack = async (userId: string) => {
    while (walks < WALKS) {
      const placed = place(order("a", 1, { userId, quantity: 10_000 }));
      const code = await placed.then((result) => result.code, kindOf);
      t.true(code === "INSUFFICIENT_LIQUIDITY" || code === "conflict");
    }
  };
  const tradeHonestly = async () => {
    for (let price = 2; walks < WALKS; price++) {
      await place(order("a", price));
      placedBetween++;
    }
  };
  const done = new Set<string>();
  const all = Promise.all([...["x", "y", "z"].map(attack), tradeHonestly()]).then(() =>
    done.add("all"),
  );
  while (done.size === 0) {
    const [name] = underWay();
    const isWalk = name?.endsWith("!!") === true;
    if (isWalk) {
      walks++;
      between.push(placedBetween);
      placedBetween = 0;
    }
    // A walk takes 120 ms, 20 of which may be those of locks, everything else 5 ms.
    pass(isWalk ? 120 : 5);
    if (name === undefined) await ticks(3);
    else await end(name);
  }
  await all;
  t.log(between.join(" "));
  // Each of them walks once, with three times as long for the others in between.
  for (const orders of between.slice(1, 3)) t.true(orders >= 50, String(orders));
  // Then they share one walk in forty times its time.
  for (const orders of between.slice(3)) t.true(orders >= 700, String(orders));
  await drained();
});
