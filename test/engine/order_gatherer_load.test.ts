import test from "ava";
import type { CommandResult, OrderRequest } from "../../src/database/calls.ts";
import type { FakeCall } from "../http/fake_pool.ts";
import {
  accept,
  accepted,
  bodies,
  heldDatabase,
  kindOf,
  order,
  ordersOf,
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

test("one user has at most two large orders at work in eight calls, in any markets", async (t) => {
  const { end, place, underWay } = heldDatabase(accept, { callCap: 8 });
  const large = { userId: "ann", quantity: 10_000 };
  const markets = ["a", "b", "c", "d"];
  const placed = markets.map((market, index) => place(order(market, index + 1, large)));
  await ticks(6);
  t.deepEqual(underWay(), ["a1", "b2"]);
  // Others' orders in the markets where hers wait go on, and so do her small ones elsewhere.
  placed.push(place(order("c", 5)), place(order("e", 6, { userId: "ann" })));
  await ticks(4);
  t.deepEqual(underWay(), ["a1", "b2", "c5 e6"]);
  await end("c5 e6");
  t.deepEqual(underWay(), ["a1", "b2"]);
  await end("a1");
  t.is(underWay().length, 2);
  for (let left = 3; left > 0; left--) {
    const [name = ""] = underWay();
    await end(name);
  }
  t.is((await Promise.all(placed)).length, 6);
});

test("a user's large orders in markets that go alone are two at work, too", async (t) => {
  const busy = (call: FakeCall) =>
    ordersOf(call).map((each) => (waits(call) ? accepted(each) : withCode("MARKET_BUSY")));
  const { end, place, underWay } = heldDatabase(busy, { callCap: 8 });
  const first = ["a", "b", "c"].map((market, index) => place(order(market, index + 1)));
  await ticks(4);
  await end("a1 b2 c3");
  for (const name of ["a1 !", "b2 !", "c3 !"]) await end(name);
  t.is((await Promise.all(first)).length, 3);
  const large = { userId: "ann", quantity: 10_000 };
  const placed = ["a", "b", "c"].map((market, index) => place(order(market, index + 4, large)));
  await ticks(6);
  t.deepEqual(underWay(), ["a4 !", "b5 !"]);
  await end("b5 !");
  t.deepEqual(underWay(), ["a4 !", "c6 !"]);
  await end("a4 !");
  await end("c6 !");
  t.is((await Promise.all(placed)).length, 3);
});
