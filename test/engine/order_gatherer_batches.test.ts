import test from "ava";
import { databaseError } from "../http/fake_pool.ts";
import type { FakeCall } from "../http/fake_pool.ts";
import {
  accept,
  accepted,
  bodies,
  heldDatabase,
  isAtomic,
  order,
  ordersOf,
  readyDatabase,
  shown,
  ticks,
  waits,
  withCode,
} from "./fake_gatherers.ts";

/** Batches that are placed as a whole, beside other orders. */

test("orders that are placed together go in a call of their own, atomic and waiting", async (t) => {
  const seen: [boolean, string][] = [];
  const committed: (string | null)[][] = [];
  const { place, placeAllOrNone } = readyDatabase(
    (call) => {
      seen.push([isAtomic(call), shown(call)]);
      const isRejected = ordersOf(call).some(({ price }) => price === 9);
      return ordersOf(call).map((each) =>
        isRejected
          ? { ...withCode(""), code: each.price === 9 ? "LOSS_LIMIT" : null }
          : accepted(each),
      );
    },
    { onCommitted: (outcomes) => committed.push(outcomes.map(({ code }) => code)) },
  );
  const single = place(order("a", 1));
  t.deepEqual(bodies(await placeAllOrNone([order("a", 2), order("b", 3)])), ["2", "3"]);
  await single;
  t.deepEqual(seen.sort(), [
    [false, "a1"],
    [true, "a2 b3 !"],
  ]);
  t.deepEqual(
    committed.toSorted((one, other) => one.length - other.length),
    [[null], [null, null]],
  );
  const rejected = await placeAllOrNone([order("a", 4), order("b", 9)]);
  t.deepEqual(
    rejected.map(({ code, body }) => [code, body]),
    [
      [null, null],
      ["LOSS_LIMIT", null],
    ],
  );
  t.deepEqual(committed.at(-1), ["LOSS_LIMIT", "LOSS_LIMIT"]);
});

test("orders that are placed together are repeated after a conflict as a whole", async (t) => {
  let failures = 2;
  const { calls, placeAllOrNone } = readyDatabase((call) => {
    if (failures-- > 0) throw databaseError("40P01");
    return accept(call);
  });
  t.is((await placeAllOrNone([order("a", 1), order("b", 2)])).length, 2);
  t.deepEqual(calls(), ["a1 b2 !", "a1 b2 !", "a1 b2 !"]);
});

/** Atomic batches are never finished. */
const neverFinished = (call: FakeCall) =>
  ordersOf(call).map((each) => (isAtomic(call) ? withCode("CONFLICT_RETRY") : accepted(each)));

test("CONFLICT_RETRY of atomic batches: those of a user go in their order, lone markets go on", async (t) => {
  const { end, pass, place, placeAllOrNone, underWay } = heldDatabase(
    (call) =>
      ordersOf(call).some(({ marketId }) => marketId === "b") && !waits(call)
        ? [withCode("AGAIN")]
        : neverFinished(call),
    { connections: 4, unfinishedForMs: 1500 },
  );
  const batches = [1, 2, 3].map((price) => placeAllOrNone([order("a", price, { userId: "ann" })]));
  await ticks(4);
  t.deepEqual(underWay(), ["a1 !"]);
  const alone = place(order("b", 4));
  await ticks(4);
  await end("b4");
  t.deepEqual(underWay(), ["a1 !", "b4 !"]);
  await end("b4 !");
  t.is((await alone).body, "4");
  // The first is made until it is finished, or its time is over; the others wait for it.
  for (const name of ["a1 !", "a1 !"]) await end(name);
  for (const [passing, name] of [
    [1500, "a1 !"],
    [0, "a2 !"],
    [1500, "a2 !"],
    [0, "a3 !"],
    [1500, "a3 !"],
  ] as const) {
    pass(passing);
    await end(name);
  }
  const codes = (await Promise.all(batches)).flat().map(({ code }) => code);
  t.deepEqual(codes, ["CONFLICT_RETRY", "CONFLICT_RETRY", "CONFLICT_RETRY"]);
});

test("with one connection atomic batches and lone markets take turns", async (t) => {
  const { calls, end, pass, place, placeAllOrNone, underWay } = heldDatabase(
    (call) =>
      ordersOf(call).some(({ marketId }) => marketId === "b") && !waits(call)
        ? [withCode("AGAIN")]
        : neverFinished(call),
    { connections: 1, unfinishedForMs: 4000 },
  );
  const batches = ["ann", "bob"].map((userId, index) =>
    placeAllOrNone([order("a", index + 1, { userId })]),
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
  t.deepEqual(turns, ["a1 !", "b3 !", "a2 !", "a1 !"]);
  t.is((await alone).body, "3");
  pass(4000);
  await end("a2 !");
  await end("a1 !");
  t.is((await Promise.all(batches)).length, 2);
  t.is(calls().filter((name) => name === "b3").length, 1);
});

test("atomic batches of many users in one market leave places to the other markets", async (t) => {
  const { end, placeAllOrNone, underWay } = heldDatabase(accept, { connections: 8 });
  const users = [1, 2, 3, 4, 5];
  const batches = users.map((price) => placeAllOrNone([order("full", price)]));
  await ticks(4);
  batches.push(placeAllOrNone([order("b", 6)]));
  await ticks(4);
  t.deepEqual(underWay(), ["full1 !", "full2 !", "b6 !"]);
  for (const name of ["b6 !", ...users.map((price) => `full${price} !`)]) await end(name);
  t.is((await Promise.all(batches)).length, 6);
});

test("an order does not wait for all batches that wait in its market", async (t) => {
  const { end, place, placeAllOrNone, underWay } = heldDatabase();
  const prices = [10, 11, 12, 13, 14, 15];
  const batches = prices.map((price) => placeAllOrNone([order("a", price, { userId: "batcher" })]));
  await ticks(4);
  const placing = place(order("a", 1));
  await ticks(4);
  let before = 0;
  while (!underWay().includes("a1") && before < prices.length) {
    await end(`a${prices[before++] ?? ""} !`);
  }
  t.true(before <= 2, `${before} batches went before the order`);
  await end("a1");
  for (const price of prices.slice(before)) await end(`a${price} !`);
  await Promise.all([placing, ...batches]);
});
