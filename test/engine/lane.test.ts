import test from "ava";
import { chooseAlone, chooseTogether, isDeep } from "../../src/engine/lane.ts";
import type { Waiting } from "../../src/engine/lane.ts";

/** Which orders a call takes. */

type Sent = readonly [
  userId: string,
  price: number,
  quantity?: number | null,
  budgetCents?: number,
];

const orderOf = (...[userId, price, quantity = 1, budgetCents]: Sent): Waiting => {
  const budget = budgetCents === undefined ? {} : { budgetCents };
  const request = { marketId: "m", userId, side: "yes", price, quantity, ...budget } as const;
  const unused = { since: 0, until: 0, token: undefined, wasTried: false };
  return { request, ...unused, resolve: () => undefined, reject: () => undefined };
};

const queueOf = (...orders: Sent[]) => orders.map((sent) => orderOf(...sent));

const prices = (orders: Waiting[]) => orders.map(({ request }) => request.price);

/** The orders of one call after the other, until the queue is empty. */
function callsOf(queue: Waiting[], mostOrders = 32): (number | null | undefined)[][] {
  const chosen = chooseAlone([queue], mostOrders);
  if (chosen.length === 0) return [];
  const left = queue.filter((order) => !chosen.includes(order));
  return [prices(chosen), ...callsOf(left, mostOrders)];
}

test("orders of one user go together, up to those of a call, in their order", (t) => {
  const queue = queueOf(["ann", 1], ["ann", 2], ["ann", 3], ["ann", 4]);
  t.deepEqual(callsOf(queue, 3), [[1, 2, 3], [4]]);
});

test("every market has its turn before one has its second", (t) => {
  const long = queueOf(["u1", 1], ["u2", 2], ["u3", 3], ["u4", 4], ["u5", 5], ["u6", 6]);
  const short = queueOf(["x", 11], ["y", 12]);
  const shorter = queueOf(["z", 21]);
  t.deepEqual(prices(chooseTogether([long, short, shorter], 6)), [1, 11, 21, 2, 12, 3]);
  t.deepEqual(prices(chooseTogether([shorter, short], 6)), [21, 11, 12]);
});

test("the smallest orders of a market go with its first one, and none before one of its user", (t) => {
  const queue = queueOf(
    ...([
      ["ann", 1, 500],
      ["bob", 2, 251],
      ["ann", 3, 240],
      ["bob", 4],
      ["cy", 5, 10],
    ] as const),
    ...([
      ["dan", 6, 200],
      ["dan", 7, 9],
      ["eve", 8, null],
      ["fay", 9],
    ] as const),
  );
  t.deepEqual(
    callsOf(queue),
    [[1, 5, 6, 7, 9], [2, 3, 4], [8]],
    "10, 200, 9 and 1 are no more than 250",
  );
});

test("with a first order that is deep come others, but none of its user", (t) => {
  const queue = queueOf(["ann", 1, 501], ["bob", 2], ["ann", 3], ["cy", 4, 9999], ["dan", 5, 250]);
  t.deepEqual(callsOf(queue), [[1, 2, 5], [3], [4]]);
});

test("an order of up to 500 shares waits for no deep ones of others", (t) => {
  const queue = queueOf(
    ...([
      ["ann", 1, 501],
      ["bob", 2, 501],
      ["bob", 3],
      ["cy", 4, 450],
    ] as const),
    ...([
      ["dan", 5, 450],
      ["cy", 6],
      ["eve", 7, 2],
    ] as const),
  );
  // With ann's, which climbs, goes cy's: the first that is not deep and behind none of its user.
  t.deepEqual(callsOf(queue), [[1, 4, 6, 7], [2, 5], [3]]);
});

test("of a budget each cent may buy a share of another order", (t) => {
  const queue = queueOf(["ann", 1], ["bob", 2, null, 250], ["cy", 3, null, 60]);
  t.deepEqual(callsOf(queue), [[1, 3], [2]]);
  t.false(isDeep(orderOf("ann", 4, null, 500)));
  t.true(isDeep(orderOf("ann", 4, null, 501)));
});
