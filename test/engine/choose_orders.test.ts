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

test("one large order of each user is chosen, and the orders behind it wait", (t) => {
  const waiting = [
    order("ann", 10_000, 1),
    order("ann", 10_000, 2),
    order("bob", 10, 3),
    order("ann", 1, 4),
    order("cid", 501, 5),
    order("bob", 10, 6),
  ];
  const choose = () => numbers(chooseOrders([waiting], { mostWork: 200 }));
  t.deepEqual([choose(), choose(), choose()], [[1, 3, 5, 6], [2], [4]]);
  t.deepEqual(waiting, []);
});

test("a call has one large order of a user over all markets; small orders are not limited", (t) => {
  const here = [order("ann", 600, 1), order("bob", 1, 2)];
  const there = [order("ann", 600, 11), order("ann", 1, 12), order("bob", 1, 13)];
  const elsewhere = [order("ann", 1, 21)];
  const all = [here, there, elsewhere];
  t.deepEqual(numbers(chooseOrders(all, { mostWork: 200 })), [1, 13, 21, 2]);
  // Behind the large order that waits the small one of the same user waits too.
  t.deepEqual(all.map(numbers), [[], [11, 12], []]);
});

test("a large budget counts as a large order", (t) => {
  const budget = (number: number): Order => ({
    number,
    request: { marketId: "m", userId: "ann", side: "yes", budgetCents: 25_001 },
  });
  t.deepEqual(numbers(chooseOrders([[budget(1), budget(2)]], { mostWork: 200 })), [1]);
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

test("of a slow market one order of each user is chosen, eight at most", (t) => {
  const users = ["ann", "ann", "bob", "c", "d", "e", "f", "g", "h", "i", "j"];
  const waiting = users.map((userId, index) => order(userId, 1, index));
  const bounds = { mostWork: 200, isSlow: true };
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
