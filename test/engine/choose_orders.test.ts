import test from "ava";
import { chooseOrders, wasSlow, workOf } from "../../src/engine/choose_orders.ts";

interface Order {
  number: number;
  request: {
    marketId: string;
    userId: string;
    side: "yes";
    quantity?: number;
    budgetCents?: number;
  };
}

const order = (userId: string, quantity: number, number = 0): Order => ({
  number,
  request: { marketId: "m", userId, side: "yes", quantity },
});

const numbers = (orders: Order[]) => orders.map(({ number }) => number);

test("small orders of one user go together, up to the work of a call, in their order", (t) => {
  const waiting = [1, 2, 3, 4].map((number) => order("ann", 10, number));
  t.deepEqual(numbers(chooseOrders([waiting], { mostWork: 3 })), [1, 2, 3]);
  t.deepEqual(numbers(waiting), [4]);
  t.deepEqual(numbers(chooseOrders([waiting], { mostWork: 3 })), [4]);
  t.deepEqual(waiting, []);
});

test("every market has its turn before one has its second", (t) => {
  const long = [1, 2, 3, 4, 5, 6].map((number) => order(`u${number}`, 1, number));
  const [short, shorter] = [[order("x", 1, 11), order("y", 1, 12)], [order("z", 1, 21)]];
  t.deepEqual(
    numbers(chooseOrders([long, short, shorter], { mostWork: 6 })),
    [1, 11, 21, 2, 12, 3],
  );
  t.deepEqual([long, short, shorter].map(numbers), [[4, 5, 6], [], []]);
});

test("what a user sent behind an order that waits, waits too", (t) => {
  const isHeld = ({ request }: Order) => request.userId === "ann" && request.marketId === "m";
  const there = (userId: string, number: number) => {
    const { request } = order(userId, 1);
    return { number, request: { ...request, marketId: "n" } };
  };
  const all = [
    [order("ann", 1, 1), order("bob", 10_000, 2), order("ann", 1, 3)],
    [there("ann", 11), there("bob", 12)],
  ];
  t.deepEqual(numbers(chooseOrders(all, { mostWork: 200, isHeld })), [2, 11, 12]);
  t.deepEqual(all.map(numbers), [[1, 3], []]);
});

test("the work of an order grows with its shares or its budget", (t) => {
  const work = (terms: object) => workOf({ marketId: "m", userId: "u", side: "yes", ...terms });
  t.deepEqual(
    [1, 2499, 2500, 10_000].map((quantity) => work({ quantity })),
    [1, 1, 2, 5],
  );
  t.deepEqual(
    [1, 249_999, 250_000, 1_000_000].map((budgetCents) => work({ budgetCents })),
    [1, 1, 2, 5],
  );
});

test("a call takes orders up to its work, and one in any case", (t) => {
  const waiting = [1, 2, 3].map((number) => order(`u${number}`, 10_000, number));
  const choose = (mostWork: number) => numbers(chooseOrders([waiting], { mostWork }));
  t.deepEqual([choose(2), choose(9)], [[1], [2]]);
  // An order that is too much ends its queue's turn; the other queues go on.
  const all = [
    [order("a", 1, 1), order("b", 10_000, 2), order("c", 1, 3)],
    [order("d", 1, 4), order("e", 1, 5)],
  ];
  t.deepEqual(numbers(chooseOrders(all, { mostWork: 4 })), [1, 4, 5]);
});

test("of a slow market one order of each user is chosen, up to so many", (t) => {
  const users = ["ann", "ann", "bob", "c", "d", "e", "f", "g", "h", "i", "j"];
  const waiting = users.map((userId, index) => order(userId, 1, index));
  const bounds = { mostWork: 200, mostOrders: 8, onePerUser: true };
  t.deepEqual(numbers(chooseOrders([waiting], bounds)), [0, 2, 3, 4, 5, 6, 7, 8]);
  t.deepEqual(numbers(waiting), [1, 9, 10]);
});

test("a call is slow by the time that each unit of its work took", (t) => {
  t.true(wasSlow(60, 1));
  t.true(wasSlow(60, 5));
  t.false(wasSlow(60, 6));
  t.true(wasSlow(20, 1, 10));
  t.false(wasSlow(20, 1));
});
