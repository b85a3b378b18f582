import test from "ava";
import type { OrderRequest, CommandResult } from "../../src/database/calls.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import type { OrderGathererOptions } from "../../src/engine/order_gatherer.ts";
import { databaseError, fakePool } from "../http/fake_pool.ts";
import type { FakeCall } from "../http/fake_pool.ts";

/** On a database that is a function, and a clock that moves only when a test moves it. */

const retries = { backoffMs: 1, patienceMs: 1000 };

/** An order is named by its price. */
const order = (
  marketId: string,
  price: number,
  more: Partial<OrderRequest> = {},
): OrderRequest => ({
  marketId,
  userId: `u${price}`,
  side: "yes",
  price,
  quantity: 1,
  ...more,
});

const ordersOf = (call: FakeCall) => JSON.parse(String(call.values[0])) as OrderRequest[];
const isAtomic = (call: FakeCall) => call.values[1] === true;
const waits = (call: FakeCall) => call.values[2] === true;
/** What a call brought: "a1 b2", and "!" where it waits for locks. */
const shown = (call: FakeCall) =>
  ordersOf(call)
    .map(({ marketId, price }) => `${marketId}${price ?? ""}`)
    .join(" ") + (waits(call) ? " !" : "");

const accepted = ({ price }: OrderRequest) => ({
  code: null,
  message: null,
  replayed: false,
  body: String(price),
});
const withCode = (code: string) => ({ code, message: null, replayed: false, body: null });
const accept = (call: FakeCall) => ordersOf(call).map(accepted);

const kindOf = (error: unknown) => (error as { kind?: string }).kind;
const bodies = (outcomes: CommandResult[]) => outcomes.map(({ body }) => body);
const tick = () => new Promise((resolve) => setImmediate(resolve));
const ticks = async (count: number) => {
  for (let done = 0; done < count; done++) await tick();
};

/** A database whose calls wait until they are let go, each for itself. */
function heldDatabase(
  answer: (call: FakeCall) => unknown[] = accept,
  options: Partial<OrderGathererOptions> = {},
) {
  const held: { call: FakeCall; go: () => void }[] = [];
  const timers: { at: number; work: () => void }[] = [];
  let now = 0;
  const clock: Partial<OrderGathererOptions> = {
    now: () => now,
    later: (work, ms) => {
      timers.push({ at: now + ms, work });
      return () => undefined;
    },
  };
  const fake = fakePool({
    answer: async (call) => {
      await new Promise<void>((go) => held.push({ call, go }));
      return answer(call);
    },
  });
  const gatherer = createOrderGatherer({ pool: fake.pool, retries, ...clock, ...options });
  return {
    ...gatherer,
    calls: () => fake.calls.map(shown),
    underWay: () => held.map(({ call }) => shown(call)),
    /** Ends the call that brought these orders. */
    end: async (name: string) => {
      const index = held.findIndex(({ call }) => shown(call) === name);
      if (index < 0) throw new Error(`${name} is not under way: ${fake.calls.map(shown).join()}`);
      held.splice(index, 1)[0]?.go();
      await ticks(4);
    },
    pass: (milliseconds: number) => {
      now += milliseconds;
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.work();
        else timers.push(timer);
      }
    },
  };
}

/** A database that answers at once. */
function readyDatabase(
  answer: (call: FakeCall) => unknown[] = accept,
  options: Partial<OrderGathererOptions> = {},
) {
  let now = 0;
  const fake = fakePool({ answer });
  const gatherer = createOrderGatherer({ pool: fake.pool, retries, now: () => now, ...options });
  return {
    ...gatherer,
    calls: () => fake.calls.map(shown),
    destroyed: fake.destroyed,
    pass: (milliseconds: number) => (now += milliseconds),
  };
}

test("an order that comes alone is placed at once and alone, and does not wait for locks", async (t) => {
  const { calls, place } = readyDatabase();
  t.is((await place(order("a", 1))).body, "1");
  t.is((await place(order("a", 2))).body, "2");
  t.deepEqual(calls(), ["a1", "a2"]);
});

test("orders that come at the same time are placed together, also of several markets", async (t) => {
  const { calls, place } = readyDatabase();
  const orders = [order("a", 1), order("b", 2), order("a", 3), order("c", 4)];
  t.deepEqual(bodies(await Promise.all(orders.map(place))), ["1", "2", "3", "4"]);
  t.deepEqual(calls(), ["a1 b2 c4 a3"]);
});

test("a market is in one call at a time; the others do not wait for it", async (t) => {
  const { end, place, underWay } = heldDatabase();
  const placed = [place(order("a", 1))];
  await ticks(2);
  placed.push(place(order("a", 2)), place(order("b", 3)), place(order("a", 4)));
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
  const { end, place, underWay } = heldDatabase(accept, { callCap: 1 });
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

test("beside a call under way, few orders wait for as long as calls take, many do not wait", async (t) => {
  const { end, pass, place, underWay } = heldDatabase();
  const placed: Promise<CommandResult>[] = [];
  const begin = async (...orders: OrderRequest[]) => {
    placed.push(...orders.map(place));
    await ticks(2);
  };
  // Calls take 8 ms: the mean comes close to it.
  for (let call = 1; call <= 60; call++) {
    await begin(order("a", 1));
    pass(8);
    await end("a1");
  }
  await begin(order("a", 2));
  await begin(order("b", 3));
  pass(4);
  await begin(order("c", 4));
  t.deepEqual(underWay(), ["a2"]);
  pass(4);
  await ticks(2);
  t.deepEqual(underWay(), ["a2", "b3 c4"], "b3 has waited for 8 ms");

  await begin(order("d", 5));
  await end("b3 c4");
  t.deepEqual(underWay(), ["a2"]);
  await end("a2");
  t.deepEqual(underWay(), ["d5"], "no call is under way, so it waits no longer");

  const many = Array.from({ length: 50 }, (_, index) => order(`m${index}-`, index));
  await begin(...many.slice(1));
  t.deepEqual(underWay(), ["d5"]);
  await begin(...many.slice(0, 1));
  t.is(underWay().length, 2, "50 orders do not wait");
  await end(underWay()[1] ?? "");
  await end("d5");
  t.true((await Promise.all(placed)).every(({ code }) => code === null));
});

test("nobody waits for slow calls longer than 50 ms", async (t) => {
  const { end, pass, place, underWay } = heldDatabase(accept, { slowMs: 100_000 });
  const placed: Promise<CommandResult>[] = [];
  for (let call = 1; call <= 60; call++) {
    placed.push(place(order("a", 1)));
    await ticks(2);
    pass(5000);
    await end("a1");
  }
  placed.push(place(order("a", 2)));
  await ticks(2);
  placed.push(place(order("b", 3)));
  await ticks(2);
  pass(49);
  await ticks(2);
  t.deepEqual(underWay(), ["a2"]);
  pass(1);
  await ticks(2);
  t.deepEqual(underWay(), ["a2", "b3"]);
  await end("a2");
  await end("b3");
  t.is((await Promise.all(placed)).length, 62);
});

test("a call has limited work; the remaining orders are in the next call, other markets first", async (t) => {
  const { calls, place } = readyDatabase(accept, { mostWork: 3 });
  const orders = [1, 2, 3, 4].map((price) => order("a", price));
  const placed = [...orders, order("b", 5)].map(place);
  t.deepEqual(bodies(await Promise.all(placed)), ["1", "2", "3", "4", "5"]);
  t.deepEqual(calls(), ["a1 b5 a2", "a3 a4"]);
});

test("MARKET_BUSY: the market goes alone and waits for its lock; the others go on", async (t) => {
  let isHeld = true;
  const answer = (call: FakeCall) =>
    ordersOf(call).map((each) =>
      each.marketId === "a" && isHeld && !waits(call) ? withCode("MARKET_BUSY") : accepted(each),
    );
  const { calls, end, pass, place, underWay } = heldDatabase(answer, { aloneForMs: 1000 });
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
  // It goes on alone until its time is over.
  t.deepEqual(underWay(), ["a5 !"]);
  await end("a5 !");
  pass(1000);
  const last = [place(order("a", 7)), place(order("b", 8))];
  await ticks(2);
  await end("a7 b8");
  t.is(bodies(await Promise.all([...first, ...later, ...last])).join(" "), "1 2 3 4 5 6 7 8");
  t.is(calls().length, 5);
});

test("markets that wait for locks have half of the connections; others find one", async (t) => {
  const answer = (call: FakeCall) =>
    ordersOf(call).map((each) =>
      each.marketId.startsWith("held") && !waits(call) ? withCode("MARKET_BUSY") : accepted(each),
    );
  const { end, place, underWay } = heldDatabase(answer, { callCap: 4 });
  const held = [1, 2, 3].map((number) => place(order(`held${number}-`, number)));
  await ticks(2);
  await end("held1-1 held2-2 held3-3");
  t.deepEqual(underWay(), ["held1-1 !", "held2-2 !"]);
  const other = place(order("b", 4));
  await ticks(2);
  await end("b4");
  t.is((await other).body, "4");
  await end("held1-1 !");
  t.deepEqual(underWay(), ["held2-2 !", "held3-3 !"]);
  await end("held2-2 !");
  await end("held3-3 !");
  t.deepEqual(bodies(await Promise.all(held)), ["1", "2", "3"]);
});

test("a shared call that was slow: each of its markets goes alone once, the slow one longer", async (t) => {
  const { end, pass, place, underWay } = heldDatabase(accept, { slowMs: 50, aloneForMs: 1000 });
  const placed = [place(order("a", 1)), place(order("b", 2))];
  await ticks(2);
  pass(60);
  await end("a1 b2");
  placed.push(place(order("a", 3)), place(order("b", 4)));
  await ticks(2);
  t.deepEqual(underWay(), ["a3 !", "b4 !"]);
  await end("b4 !");
  pass(60);
  await end("a3 !");
  placed.push(
    ...[place(order("a", 5, { userId: "ann" })), place(order("a", 6, { userId: "ann" }))],
    ...[place(order("b", 7)), place(order("c", 8))],
  );
  await ticks(2);
  // Of a slow market one order of a user at a time, and none together with other markets.
  t.deepEqual(underWay().sort(), ["a5 !", "b7 c8"]);
  await end("a5 !");
  await end("b7 c8");
  await end("a6 !");
  pass(1000);
  placed.push(place(order("a", 9)), place(order("b", 10)));
  await ticks(2);
  await end("a9 b10");
  t.is((await Promise.all(placed)).length, 10);
});

for (const code of ["40001", "40P01", "55P03"]) {
  test(`${code}: a shared call is repeated in parts, and clients see no error`, async (t) => {
    let failures = 1;
    const { calls, destroyed, place } = readyDatabase((call) => {
      if (failures-- > 0) throw databaseError(code);
      return accept(call);
    });
    const orders = [order("a", 1), order("b", 2), order("a", 3)];
    t.deepEqual(bodies(await Promise.all(orders.map(place))), ["1", "2", "3"]);
    t.deepEqual(calls(), ["a1 b2 a3", "a1 a3 !", "b2 !"]);
    // Each went well by itself, so they share a call again.
    await Promise.all([order("a", 4), order("b", 5)].map(place));
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
      { retries: { ...retries, attempts: 3 } },
    );
    const orders = [order("a", 1), order("b", 2), order("a", 3)];
    const results = await Promise.allSettled(orders.map(place));
    t.deepEqual(
      results.map((result) =>
        result.status === "rejected" ? kindOf(result.reason) : result.value.body,
      ),
      ["conflict", "2", "conflict"],
    );
    t.deepEqual(calls().sort(), ["a1 a3 !", "a1 a3 !", "a1 a3 !", "a1 b2 a3", "b2 !"]);
  });
}

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
  const gatherer = createOrderGatherer({ pool, mostWork: 2, retries: { ...retries, attempts: 3 } });
  const orders = ["a", "b", "a", "c", "a"].map((market, index) => order(market, index));
  const results = await Promise.allSettled(orders.map(gatherer.place));
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
    const results = await Promise.allSettled([order("a", 1), order("b", 2)].map(place));
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
  const results = await Promise.allSettled(orders.map(place));
  t.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value.body : "failed")),
    ["1", "failed", "3", "4"],
  );
  t.is(calls()[0], "a1 b4 a2 a3");
  t.deepEqual(calls().slice(1).sort(), ["a1 !", "a1 a2 a3 !", "a2 !", "a3 !", "b4 !"]);
});

test("results that don't match the orders are discarded, and no order is placed twice", async (t) => {
  const { calls, place } = readyDatabase((call) => accept(call).slice(1));
  const results = await Promise.allSettled([order("a", 1), order("b", 2)].map(place));
  t.true(results.every((result) => result.status === "rejected"));
  t.is(calls().length, 1);
});

test("beyond the cap on waiting orders new ones are rejected, and room comes back", async (t) => {
  const { end, place, placeTogether } = heldDatabase(accept, { waitingCap: 2, callCap: 1 });
  const first = place(order("a", 1));
  await ticks(2); // it is under way, so it doesn't wait any more
  const waiting = [place(order("a", 2)), place(order("b", 3))];
  t.is(kindOf(await t.throwsAsync(place(order("c", 4)))), "overloaded");
  t.is(kindOf(await t.throwsAsync(placeTogether([order("c", 4)]))), "overloaded");
  await end("a1");
  await end("b3 a2");
  await Promise.all([first, ...waiting]);
  const later = place(order("a", 5));
  await ticks(2);
  await end("a5");
  t.is((await later).body, "5");
});

test("drained waits for waiting orders and for calls under way", async (t) => {
  const { drained, place, placeTogether } = readyDatabase(accept, { mostWork: 1 });
  let answered = 0;
  const orders = [order("a", 1), order("a", 2), order("b", 3)].map(async (each) => {
    await place(each);
    answered += 1;
  });
  const all = placeTogether([order("c", 4)]).then(() => (answered += 1));
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
  const placed = [order("a", 1), order("b", 2), order("b", 3)].map(place);
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
  const { calls, place } = readyDatabase(unfinished(2, 1000), { unfinishedForMs: 0 });
  t.is((await place(order("a", 2))).code, "CONFLICT_RETRY");
  t.is(calls().length, 1);
});

test("orders that are placed together go in a call of their own, atomic and waiting", async (t) => {
  const seen: [boolean, string][] = [];
  const committed: number[] = [];
  const { place, placeTogether } = readyDatabase(
    (call) => {
      seen.push([isAtomic(call), shown(call)]);
      const isRejected = ordersOf(call).some(({ price }) => price === 9);
      return ordersOf(call).map((each) =>
        isRejected
          ? { ...withCode(""), code: each.price === 9 ? "LOSS_LIMIT" : null }
          : accepted(each),
      );
    },
    { onCommitted: (outcomes) => committed.push(outcomes.length) },
  );
  const single = place(order("a", 1));
  t.deepEqual(bodies(await placeTogether([order("a", 2), order("b", 3)])), ["2", "3"]);
  await single;
  t.deepEqual(seen.sort(), [
    [false, "a1"],
    [true, "a2 b3 !"],
  ]);
  t.deepEqual(committed.sort(), [1, 2]);
  const rejected = await placeTogether([order("a", 4), order("b", 9)]);
  t.deepEqual(
    rejected.map(({ code, body }) => [code, body]),
    [
      [null, null],
      ["LOSS_LIMIT", null],
    ],
  );
  t.is(committed.length, 2, "nothing was written");
});

test("orders that are placed together are repeated after a conflict as a whole", async (t) => {
  let failures = 2;
  const { calls, placeTogether } = readyDatabase((call) => {
    if (failures-- > 0) throw databaseError("40P01");
    return accept(call);
  });
  t.is((await placeTogether([order("a", 1), order("b", 2)])).length, 2);
  t.deepEqual(calls(), ["a1 b2 !", "a1 b2 !", "a1 b2 !"]);
});

/** Atomic batches are never finished. */
const neverFinished = (call: FakeCall) =>
  ordersOf(call).map((each) => (isAtomic(call) ? withCode("CONFLICT_RETRY") : accepted(each)));

test("CONFLICT_RETRY of atomic batches: one of a user is at work, lone markets go on", async (t) => {
  const { end, pass, place, placeTogether, underWay } = heldDatabase(
    (call) =>
      ordersOf(call).some(({ marketId }) => marketId === "b") && !waits(call)
        ? [withCode("MARKET_BUSY")]
        : neverFinished(call),
    { callCap: 4, unfinishedForMs: 5000 },
  );
  const batches = [1, 2, 3].map((price) => placeTogether([order("a", price, { userId: "ann" })]));
  await ticks(4);
  t.deepEqual(underWay(), ["a1 !"]);
  const alone = place(order("b", 4));
  await ticks(4);
  await end("b4");
  t.deepEqual(underWay(), ["a1 !", "b4 !"]);
  await end("b4 !");
  t.is((await alone).body, "4");
  // Each goes to the end of the line.
  for (const [ended, next] of [
    ["a1 !", "a2 !"],
    ["a2 !", "a3 !"],
    ["a3 !", "a1 !"],
  ] as const) {
    await end(ended);
    t.deepEqual(underWay(), [next]);
  }
  pass(5000);
  for (const name of ["a1 !", "a2 !", "a3 !"]) await end(name);
  const codes = (await Promise.all(batches)).flat().map(({ code }) => code);
  t.deepEqual(codes, ["CONFLICT_RETRY", "CONFLICT_RETRY", "CONFLICT_RETRY"]);
});

test("with one connection atomic batches and lone markets take turns", async (t) => {
  const { calls, end, pass, place, placeTogether, underWay } = heldDatabase(
    (call) =>
      ordersOf(call).some(({ marketId }) => marketId === "b") && !waits(call)
        ? [withCode("MARKET_BUSY")]
        : neverFinished(call),
    { callCap: 1, unfinishedForMs: 5000 },
  );
  const batches = ["ann", "bob"].map((userId, index) =>
    placeTogether([order("a", index + 1, { userId })]),
  );
  const alone = place(order("b", 3));
  await ticks(4);
  await end("b3");
  const turns = [];
  for (let turn = 0; turn < 4; turn++) {
    const [name = ""] = underWay();
    turns.push(name);
    await end(name);
  }
  t.deepEqual(turns, ["a1 !", "a2 !", "b3 !", "a1 !"]);
  t.is((await alone).body, "3");
  pass(5000);
  await end("a2 !");
  await end("a1 !");
  t.is((await Promise.all(batches)).length, 2);
  t.is(calls().filter((name) => name === "b3").length, 1);
});

test("atomic batches of many users in one market leave places to the other markets", async (t) => {
  const { end, placeTogether, underWay } = heldDatabase(accept, { callCap: 8 });
  const users = [1, 2, 3, 4, 5];
  const batches = users.map((price) => placeTogether([order("full", price)]));
  await ticks(4);
  batches.push(placeTogether([order("b", 6)]));
  await ticks(4);
  t.deepEqual(underWay(), ["full1 !", "full2 !", "b6 !"]);
  for (const name of ["b6 !", ...users.map((price) => `full${price} !`)]) await end(name);
  t.is((await Promise.all(batches)).length, 6);
});

test("one user has at most two large orders at work in eight calls, in any markets", async (t) => {
  const { end, place, underWay } = heldDatabase(accept, { callCap: 8 });
  const large = { userId: "ann", quantity: 10_000 };
  const markets = ["a", "b", "c", "d"];
  const placed = markets.map((market, index) => place(order(market, index + 1, large)));
  await ticks(6);
  t.deepEqual(underWay(), ["a1", "b2"]);
  // Others' orders in the markets where hers wait go on, and so do her small ones elsewhere.
  placed.push(place(order("c", 5)), place(order("e", 6, { userId: "ann" })));
  await ticks(4);
  t.deepEqual(underWay(), ["a1", "b2", "c5 e6"]);
  await end("c5 e6");
  t.deepEqual(underWay(), ["a1", "b2"]);
  await end("a1");
  t.is(underWay().length, 2);
  for (let left = 3; left > 0; left--) {
    const [name = ""] = underWay();
    await end(name);
  }
  t.is((await Promise.all(placed)).length, 6);
});

test("a user's large orders in markets that go alone are two at work, too", async (t) => {
  const busy = (call: FakeCall) =>
    ordersOf(call).map((each) => (waits(call) ? accepted(each) : withCode("MARKET_BUSY")));
  const { end, place, underWay } = heldDatabase(busy, { callCap: 8 });
  const first = ["a", "b", "c"].map((market, index) => place(order(market, index + 1)));
  await ticks(4);
  await end("a1 b2 c3");
  for (const name of ["a1 !", "b2 !", "c3 !"]) await end(name);
  t.is((await Promise.all(first)).length, 3);
  const large = { userId: "ann", quantity: 10_000 };
  const placed = ["a", "b", "c"].map((market, index) => place(order(market, index + 4, large)));
  await ticks(6);
  t.deepEqual(underWay(), ["a4 !", "b5 !"]);
  await end("b5 !");
  t.deepEqual(underWay(), ["a4 !", "c6 !"]);
  await end("a4 !");
  await end("c6 !");
  t.is((await Promise.all(placed)).length, 3);
});
