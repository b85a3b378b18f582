import test from "ava";
import { isDeep, makeLane, takeAlone, takeTogether } from "../../src/engine/lane.ts";
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

const laneOf = (...orders: Sent[]) => {
  const lane = makeLane();
  lane.waiting = orders.map((sent) => orderOf(...sent));
  return lane;
};

const prices = (orders: Waiting[]) => orders.map(({ request }) => request.price);

test("orders of one user go together, up to those of a call, in their order", (t) => {
  const lane = laneOf(["ann", 1], ["ann", 2], ["ann", 3], ["ann", 4]);
  t.deepEqual(prices(takeAlone(lane, 3)), [1, 2, 3]);
  t.deepEqual(prices(lane.waiting), [4]);
  t.deepEqual(prices(takeAlone(lane, 3)), [4]);
  t.deepEqual(lane.waiting, []);
});

test("every market has its turn before one has its second", (t) => {
  const long = laneOf(["u1", 1], ["u2", 2], ["u3", 3], ["u4", 4], ["u5", 5], ["u6", 6]);
  const short = laneOf(["x", 11], ["y", 12]);
  const shorter = laneOf(["z", 21]);
  t.deepEqual(prices(takeTogether([long, short, shorter], 6)), [1, 11, 21, 2, 12, 3]);
  t.deepEqual(
    [long, short, shorter].map(({ waiting }) => prices(waiting)),
    [[4, 5, 6], [], []],
  );
});

test("what a user sent after an order that climbs waits in its market alone", (t) => {
  const [lane, other] = [laneOf(["ann", 1], ["bob", 2], ["ann", 3]), laneOf(["ann", 11])];
  lane.climbing.add("ann", 1);
  t.deepEqual(prices(takeTogether([lane, other], 200)), [2, 11]);
  t.deepEqual(prices(lane.waiting), [1, 3]);
  t.deepEqual(prices(takeAlone(lane, 200)), []);
});

test("the smallest orders of a market go with its first one, and none before one of its user", (t) => {
  const lane = laneOf(
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
    prices(takeAlone(lane, 32)),
    [1, 5, 6, 7, 9],
    "10, 200, 9 and 1 are no more than 250",
  );
  t.deepEqual(prices(takeAlone(lane, 32)), [2, 3, 4]);
  t.deepEqual(prices(takeAlone(lane, 32)), [8]);
});

test("with a first order that is deep come others, but none of its user", (t) => {
  const lane = laneOf(["ann", 1, 501], ["bob", 2], ["ann", 3], ["cy", 4, 9999], ["dan", 5, 250]);
  for (const taken of [[1, 2, 5], [3], [4]]) t.deepEqual(prices(takeAlone(lane, 32)), taken);
});

test("an order of up to 500 shares waits for no deep ones of others", (t) => {
  const lane = laneOf(
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
  for (const taken of [[1, 4, 6, 7], [2, 5], [3]]) t.deepEqual(prices(takeAlone(lane, 32)), taken);
});

test("of a budget each cent may buy a share of another order", (t) => {
  const lane = laneOf(["ann", 1], ["bob", 2, null, 250], ["cy", 3, null, 60]);
  t.deepEqual(prices(takeAlone(lane, 32)), [1, 3]);
  t.deepEqual(prices(takeAlone(lane, 32)), [2]);
  t.false(isDeep(orderOf("ann", 4, null, 500)));
  t.true(isDeep(orderOf("ann", 4, null, 501)));
});
