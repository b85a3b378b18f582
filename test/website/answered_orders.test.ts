import test from "ava";
import {
  asAnswered,
  isCancelledByUser,
  noteChangedOrders,
  notePlacedOrder,
} from "../../src/website/api/answered_orders.ts";

/** Rows of open orders, as answers and releases after the reading of their list say they are. */

const order = (id: string, values: object = {}) =>
  ({ id, marketId: "m", status: "open", quantity: 9, filledQuantity: 0, ...values }) as any;
const rows = (orders: object[], askedAt: number, marketId?: string) =>
  asAnswered(orders as any[], { askedAt, ...(marketId !== undefined && { marketId }) });
const ids = (...of: Parameters<typeof rows>) => rows(...of).map(({ id }) => id);

/** A moment later than all that was noted so far. */
function later(): number {
  const before = performance.now();
  while (performance.now() <= before);
  return performance.now();
}

test("an order that was placed is in a list that was asked for before, once, and first", (t) => {
  const before = later();
  notePlacedOrder(order("new", { status: "scheduled", releaseInMs: 2500 }));
  notePlacedOrder(order("filled", { status: "filled" }));
  t.deepEqual(ids([order("old")], before, "m"), ["new", "old"]);
  t.is(rows([], before)[0]?.releaseInMs, 2500);
  t.deepEqual(ids([], before, "another market"), []);
  t.deepEqual(ids([order("new"), order("old")], before), ["new", "old"]);
  t.deepEqual(ids([], later()), [], "the list that was asked for later knows better");
});

test("a placed order follows what is said of it, also before its answer", (t) => {
  const before = later();
  const released = { id: "early", status: "filled", filledQuantity: 9 } as const;
  noteChangedOrders([{ id: "early", becomes: released }]);
  for (const id of ["early", "rests", "cancelled", "replaced"]) {
    notePlacedOrder(order(id, { status: "scheduled" }));
  }
  const rests = { id: "rests", status: "partially_filled", filledQuantity: 4 } as const;
  noteChangedOrders([
    { id: "rests", becomes: rests },
    { id: "cancelled", becomes: undefined },
    { id: "replaced", becomes: order("successor") },
  ]);
  t.deepEqual(ids([], before), ["successor", "rests"]);
  t.like(rows([], before)[1], rests);
  t.deepEqual(ids([order("successor")], before), ["rests", "successor"]);
  t.deepEqual(ids([order("replaced")], before), ["rests", "successor"]);
  t.true(isCancelledByUser("cancelled"));
  t.false(isCancelledByUser("early"));
});
