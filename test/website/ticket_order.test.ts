import test from "ava";
import { placeOrderSchema } from "../../src/api/orders.ts";
import {
  changedTicket,
  emptyTicket,
  followingTicket,
  newTicket,
  optionWords,
  orderOf,
  withShares,
} from "../../src/website/components/market/ticket_order.ts";
import type { Ticket } from "../../src/website/components/market/ticket_order.ts";

const marketId = "0193d0a0-0000-7000-8000-000000000000";
const limitTicket: Ticket = { ...emptyTicket, kind: "limit" };
const order = (ticket: Partial<Ticket>) => orderOf({ ...limitTicket, ...ticket }, marketId).order;
const errors = (ticket: Partial<Ticket>) =>
  Object.keys(orderOf({ ...limitTicket, ...ticket }, marketId).errors ?? {});

const buy = { marketId, side: "yes", orderType: "buy" } as const;

test("a ticket takes the same prices, quantities and budgets as the API", (t) => {
  const api = (more: object) => placeOrderSchema.safeParse({ ...buy, price: 40, ...more }).success;
  const takes = (ticket: Partial<Ticket>) => order({ price: "40", ...ticket }) !== undefined;
  for (const price of [0, 1, 99, 100]) {
    t.is(takes({ price: String(price), quantity: "1" }), api({ price, quantity: 1 }));
  }
  for (const quantity of [0, 1, 10_000, 10_001]) {
    t.is(takes({ quantity: String(quantity) }), api({ quantity }));
  }
  for (const budgetCents of [0, 1, 1_000_000, 1_000_001]) {
    const budget = (budgetCents / 100).toFixed(2);
    t.is(takes({ kind: "budget", budget }), api({ budgetCents }));
  }
});

test("each kind of ticket is the order that the API knows", (t) => {
  t.deepEqual(order({ price: "40", quantity: "5" }), { ...buy, price: 40, quantity: 5 });
  t.deepEqual(order({ kind: "market", quantity: "5", price: "7" }), {
    ...{ ...buy, price: null, quantity: 5 },
  });
  t.deepEqual(order({ kind: "budget", budget: "12,50", quantity: "9" }), {
    ...{ ...buy, price: null, budgetCents: 1250 },
  });
  t.deepEqual(order({ orderType: "sell", side: "no", kind: "market", quantity: "1" }), {
    ...{ marketId, side: "no", orderType: "sell", price: null, quantity: 1 },
  });
});

test("a new ticket buys for an amount at once, whatever the best price is", (t) => {
  const ticket = { ...newTicket({ bestAsk: 72, bestBid: null }), budget: "20" };
  t.deepEqual(orderOf(ticket, marketId).order, { ...buy, price: null, budgetCents: 2000 });
  t.deepEqual(withShares(ticket, 700), ticket, "it has no number of shares");
});

test("an amount comes first: at a limit it becomes shares, fee included", (t) => {
  const at = (ticket: Partial<Ticket>) =>
    withShares({ ...limitTicket, price: "60", budget: "20", quantity: "3", ...ticket }, 700)
      .quantity;
  // A share costs 60 and 1.68 cents of fee: 32 of them 19.74, 33 of them 20.36.
  t.is(at({}), "32");
  t.is(at({ price: "30" }), String(Math.floor(2000 / 31.47)));
  t.is(at({ budget: "0.60" }), "0");
  t.is(at({ price: "" }), "", "a price is missing");
  t.is(at({ budget: "twenty" }), "");
  for (const own of [{ budget: "" }, { orderType: "sell" }, { kind: "market" }] as const) {
    t.is(at(own), "3", JSON.stringify(own));
  }
  t.deepEqual(errors({ budget: "twenty", price: "60" }), ["budget"]);
  t.deepEqual(errors({ budget: "0.60", quantity: "0", price: "60" }), ["budget"]);
});

test("options belong to limit orders only", (t) => {
  const options = { postOnly: true, expiresAt: "2030-01-02T03:04" };
  t.deepEqual(order({ price: "40", quantity: "5", ...options }), {
    ...{ ...buy, price: 40, quantity: 5, postOnly: true },
    expiresAt: new Date("2030-01-02T03:04").toISOString(),
  });
  t.deepEqual(order({ kind: "market", quantity: "5", ...options, immediateOrCancel: true }), {
    ...{ ...buy, price: null, quantity: 5 },
  });
  t.is(order({ price: "1", quantity: "1", immediateOrCancel: true })?.timeInForce, "ioc");
});

test("what is missing is named", (t) => {
  t.deepEqual(errors({}), ["price", "quantity"]);
  t.deepEqual(errors({ price: "100", quantity: "10001" }), ["price", "quantity"]);
  t.deepEqual(errors({ kind: "market", quantity: "1.5" }), ["quantity"]);
  t.deepEqual(errors({ kind: "budget", budget: "10000.01" }), ["budget"]);
  t.deepEqual(errors({ price: "1", quantity: "1", expiresAt: "soon" }), ["expiresAt"]);
});

test("a price is for one side and one direction: another one begins with the best price", (t) => {
  const market = { bestAsk: 72, bestBid: 70 };
  const ticket = newTicket(market);
  t.is(ticket.price, "72");
  const own = changedTicket(ticket, { price: "76" }, market);
  t.is(changedTicket(own, { quantity: "5" }, market).price, "76");
  t.is(changedTicket(own, { kind: "limit", side: "yes" }, market).price, "76");
  t.is(changedTicket(own, { side: "no" }, market).price, "30");
  t.is(changedTicket(own, { orderType: "sell" }, market).price, "70");
  t.is(changedTicket(own, { side: "no" }, { bestAsk: 72, bestBid: null }).price, "");
  // A price of the book comes with its side.
  t.is(changedTicket(own, { side: "no", price: "31" }, market).price, "31");
});

test("the price follows the best one until the user chooses one, or fills in how much", (t) => {
  const [before, now] = [
    { bestAsk: 72, bestBid: 70 },
    { bestAsk: 65, bestBid: 60 },
  ];
  const ticket: Ticket = { ...newTicket(before), kind: "limit" };
  const priceNow = (change: Partial<Ticket>) =>
    followingTicket(changedTicket(ticket, change, before), now).price;
  t.is(priceNow({}), "65");
  t.is(priceNow({ kind: "market" }), "65");
  t.is(priceNow({ side: "no" }), "40");
  t.is(priceNow({ orderType: "sell" }), "60");
  t.is(followingTicket(ticket, { bestAsk: null, bestBid: 60 }).price, "72", "there is none");
  for (const chosen of [{ price: "72" }, { quantity: "5" }, { budget: "5" }]) {
    t.is(priceNow(chosen), "72", JSON.stringify(chosen));
  }
  // What is filled in later is filled in at the price that is shown.
  t.is(changedTicket(ticket, { budget: "5" }, now).price, "65");
  // The other kinds have no price of their own: it is that of the moment when they become a limit.
  const amount = changedTicket({ ...ticket, kind: "budget" }, { budget: "5" }, before);
  t.is(changedTicket(amount, { kind: "limit" }, now).price, "65");
  // After an order its amount is gone.
  const done = changedTicket(changedTicket(ticket, { budget: "5" }, before), { budget: "" }, now);
  t.is(followingTicket(done, now).price, "65");
});

test("the options that are set are named", (t) => {
  const words = (ticket: Partial<Ticket>) => optionWords({ ...emptyTicket, ...ticket });
  t.is(words({}), "");
  t.is(words({ postOnly: true }), "Post only");
  t.regex(words({ postOnly: true, expiresAt: "2030-01-02T03:04" }), /^Post only, until .*2030/);
  t.is(words({ immediateOrCancel: true, expiresAt: "soon" }), "Immediate or cancel");
});
