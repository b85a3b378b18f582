import test from "ava";
import type { CommandResult, OrderRequest } from "../../src/database/calls.ts";
import type { OrderGathererOptions } from "../../src/engine/order_gatherer.ts";
import type { FakeCall } from "../http/fake_pool.ts";
import {
  accept,
  accepted,
  bodies,
  heldDatabase,
  kindOf,
  order,
  ordersOf,
  shown,
  ticks,
  waits,
  withCode,
} from "./fake_gatherers.ts";

/** What waits while much is under way: how long, and how much of one user. */

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

test("one user has a quarter of the queue, batches included; others still have room", async (t) => {
  const { end, place, placeOnce, placeTogether } = heldDatabase(accept, { waitingCap: 16 });
  const ofAnn = (marketId: string, price: number) => order(marketId, price, { userId: "ann" });
  const first = place(ofAnn("a", 1));
  await ticks(2); // it is under way, so it doesn't wait any more
  const batch = placeTogether([ofAnn("b", 2), ofAnn("c", 3)]);
  const waiting = [place(ofAnn("a", 4)), place(ofAnn("a", 5))];
  t.is(kindOf(await t.throwsAsync(place(ofAnn("d", 6)))), "overloaded");
  t.is(kindOf(await t.throwsAsync(placeTogether([ofAnn("d", 6)]))), "overloaded");
  const keyed = {
    userId: "ann",
    orders: [ofAnn("d", 6)],
    atomic: false,
    idempotencyKey: "key",
    requestFingerprint: "print",
  };
  t.is(kindOf(await t.throwsAsync(placeOnce(keyed))), "overloaded");
  const others = place(order("d", 7, { userId: "bob" }));
  await ticks(4);
  await end("b2 c3 !");
  await batch;
  await end("a1");
  const later = place(ofAnn("e", 8));
  await ticks(4);
  for (const name of ["d7", "a4 a5", "e8"]) await end(name);
  const placed = await Promise.all([first, ...waiting, others, later]);
  t.is(bodies(placed).join(" "), "1 4 5 7 8");
});

/** A database in which orders of 10,000 shares are too much for a call of several orders. */
function deepDatabase(options: Partial<OrderGathererOptions> = {}) {
  const answer = (call: FakeCall) =>
    ordersOf(call).map((each) => {
      if (each.quantity !== 10_000 || shown(call).endsWith("!!")) return accepted(each);
      return withCode(waits(call) ? "MARKET_DEEP" : "MARKET_BUSY");
    });
  return heldDatabase(answer, { callCap: 8, ...options });
}

test("MARKET_DEEP: the order goes by itself, and what its user sends to the market then waits", async (t) => {
  const { calls, drained, end, place, underWay } = deepDatabase();
  const ofAnn = (marketId: string, price: number, quantity = 1) =>
    order(marketId, price, { userId: "ann", quantity });
  const placed = [place(ofAnn("a", 1, 10_000))];
  await ticks(4);
  await end("a1");
  await end("a1 !");
  t.deepEqual(underWay(), ["a1 !!"]);
  placed.push(place(ofAnn("a", 2)), place(order("a", 3)), place(ofAnn("b", 4)));
  await ticks(4);
  t.deepEqual(underWay(), ["a1 !!", "a3 !", "b4"]);
  await end("a3 !");
  await end("b4");
  t.deepEqual(underWay(), ["a1 !!"]);
  await end("a1 !!");
  await end("a2 !");
  await drained();
  t.is(bodies(await Promise.all(placed)).join(" "), "1 2 3 4");
  t.is(calls().length, 6);
});

test("of one user one order at a time goes by itself, of all users half of the connections", async (t) => {
  const { end, place, underWay } = deepDatabase();
  const large = (marketId: string, price: number, userId: string) =>
    place(order(marketId, price, { userId, quantity: 10_000 }));
  const placed = [1, 2].map((price) => large(`m${price}-`, price, "ann"));
  placed.push(...[3, 4, 5, 6].map((price) => large(`m${price}-`, price, `u${price}`)));
  await ticks(4);
  const [shared = ""] = underWay();
  await end(shared);
  while (underWay().some((name) => name.endsWith(" !"))) {
    await end(underWay().find((name) => name.endsWith(" !")) ?? "");
  }
  t.deepEqual(underWay(), ["m1-1 !!", "m3-3 !!", "m4-4 !!", "m5-5 !!"]);
  await end("m3-3 !!");
  t.deepEqual(underWay(), ["m1-1 !!", "m4-4 !!", "m5-5 !!", "m6-6 !!"]);
  await end("m1-1 !!");
  t.true(underWay().includes("m2-2 !!"));
  while (underWay().length > 0) await end(underWay()[0] ?? "");
  t.is((await Promise.all(placed)).length, 6);
});

test("orders that are placed by themselves count as orders that wait, until they are done", async (t) => {
  const { end, place } = deepDatabase({ waitingCap: 4 });
  const large = place(order("a", 1, { userId: "ann", quantity: 10_000 }));
  await ticks(4);
  await end("a1");
  await end("a1 !");
  const refused = place(order("b", 2, { userId: "ann" }));
  t.is(kindOf(await t.throwsAsync(refused)), "overloaded");
  await end("a1 !!");
  t.is((await large).body, "1");
  const later = place(order("b", 3, { userId: "ann" }));
  await ticks(4);
  await end("b3");
  t.is((await later).body, "3");
});

test("an order by itself that fails is answered so, and what waited for it goes on", async (t) => {
  const answer = (call: FakeCall) => {
    if (shown(call).endsWith("!!")) throw new Error("lost");
    return ordersOf(call).map((each) =>
      each.price === 1 ? withCode(waits(call) ? "MARKET_DEEP" : "MARKET_BUSY") : accepted(each),
    );
  };
  const { drained, end, place } = heldDatabase(answer);
  const first = place(order("a", 1, { userId: "ann" }));
  await ticks(4);
  await end("a1");
  await end("a1 !");
  const second = place(order("a", 2, { userId: "ann" }));
  await ticks(4);
  const failure = t.throwsAsync(first);
  await end("a1 !!");
  t.regex((await failure).message, /lost/);
  await end("a2 !");
  t.is((await second).body, "2");
  await drained();
});
