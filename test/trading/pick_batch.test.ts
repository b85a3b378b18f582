import test from "ava";
import { pickBatch, wasSlow } from "../../src/trading/pick_batch.ts";

const order = (userId: string, quantity: number, number = 0) => ({
  number,
  request: { userId, side: "yes" as const, price: 50, quantity },
});

const numbers = (orders: { number: number }[]) => orders.map(({ number }) => number);

test("small orders of one user go together, up to the cap, in their order", (t) => {
  const waiting = [1, 2, 3, 4].map((number) => order("ann", 10, number));
  t.deepEqual(numbers(pickBatch(waiting, 3, false)), [1, 2, 3]);
  t.deepEqual(numbers(waiting), [4]);
});

test("of each user one large order goes, and what is behind it waits", (t) => {
  const waiting = [
    order("ann", 10_000, 1),
    order("ann", 10_000, 2),
    order("bob", 10, 3),
    order("ann", 1, 4),
    order("cid", 501, 5),
    order("bob", 10, 6),
  ];
  t.deepEqual(numbers(pickBatch(waiting, 200, false)), [1, 3, 5, 6]);
  t.deepEqual(numbers(pickBatch(waiting, 200, false)), [2]);
  t.deepEqual(numbers(pickBatch(waiting, 200, false)), [4]);
  t.deepEqual(waiting, []);
});

test("a large budget counts as a large order", (t) => {
  const budget = (number: number) => ({
    number,
    request: { userId: "ann", side: "yes" as const, budgetCents: 25_001 },
  });
  const waiting = [budget(1), budget(2)];
  t.deepEqual(numbers(pickBatch(waiting, 200, false)), [1]);
});

test("of a slow market one order of each user goes, eight at most", (t) => {
  const users = ["ann", "ann", "bob", "c", "d", "e", "f", "g", "h", "i", "j"];
  const waiting = users.map((userId, index) => order(userId, 1, index));
  t.deepEqual(numbers(pickBatch(waiting, 200, true)), [0, 2, 3, 4, 5, 6, 7, 8]);
  t.deepEqual(numbers(waiting), [1, 9, 10]);
});

test("a call is slow by the time that each of its orders took", (t) => {
  t.true(wasSlow(60, 1));
  t.true(wasSlow(60, 5));
  t.false(wasSlow(60, 6));
  t.true(wasSlow(20, 1, 10));
  t.false(wasSlow(20, 1));
});
