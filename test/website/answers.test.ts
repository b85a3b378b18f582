import test from "ava";
import { isTold, noteTold } from "../../src/website/api/told_orders.ts";
import {
  answeredOutcome,
  isComplete,
  isFinal,
} from "../../src/website/components/market/answered_outcome.ts";

/** What the answers to commands say, so that pages do not read it. */

const order = {
  id: "o",
  side: "yes",
  status: "filled",
  quantity: 4,
  filledQuantity: 4,
  cancelReason: null,
} as const;
const fills = (...of: [price: number, quantity: number][]) =>
  of.map(([price, quantity]) => ({ price, quantity })) as any;

test("an answer says the average price of the own side, and nothing has to be read", (t) => {
  const outcome = answeredOutcome({ order, fills: fills([60, 3], [64, 1]), feeCents: 7 });
  t.is(outcome.averagePrice, 61);
  t.true(isComplete(outcome) && isFinal(outcome));
  const no = { ...order, side: "no" } as const;
  t.is(
    answeredOutcome({ order: no, fills: fills([60, 3], [64, 1]), feeCents: 7 }).averagePrice,
    39,
  );
});

test("an order that waits is complete, but not final", (t) => {
  const open = { ...order, status: "open", filledQuantity: 0 } as const;
  const outcome = answeredOutcome({ order: open, fills: [], feeCents: 0 });
  t.is(outcome.averagePrice, null);
  t.true(isComplete(outcome));
  t.false(isFinal(outcome));
});

test("an answer from before is not complete: it has neither later fills nor the fee", (t) => {
  const later = answeredOutcome({ order, fills: fills([60, 3]), feeCents: 5 });
  t.is(later.averagePrice, null);
  t.false(isComplete(later));
  t.false(isComplete(answeredOutcome({ order, fills: fills([60, 4]), feeCents: null })));
});

const event = (type: string, values: object = {}) => ({ type, orderId: "a", ...values }) as any;

test("the events of a command say what its answer said, others are news", (t) => {
  const taken = event("fill", { liquidity: "taker" });
  t.false(isTold(taken), "there is no answer yet");
  noteTold({ id: "a", status: "partially_filled" });
  t.true(isTold(taken));
  t.false(isTold(event("fill", { liquidity: "maker" })), "it was filled later");
  t.false(isTold({ ...taken, orderId: "b" }), "another program's order");
  t.false(isTold(event("order_cancelled")));
});

test("an order of a live market is told as accepted; what it takes at its release is news", (t) => {
  const pending = { ...event("order_pending"), orderId: "live" };
  t.false(isTold(pending));
  noteTold({ id: "live", status: "scheduled" });
  t.true(isTold(pending));
  t.false(isTold({ ...event("order_released"), orderId: "live" }));
  t.false(isTold({ ...event("fill", { liquidity: "taker" }), orderId: "live" }));
});

test("only the orders of late are kept", (t) => {
  noteTold({ id: "old", status: "filled" });
  const taken = event("fill", { liquidity: "taker", orderId: "old" });
  t.true(isTold(taken));
  for (let number = 0; number < 100; number++) noteTold({ id: `new ${number}`, status: "open" });
  t.false(isTold(taken));
});
