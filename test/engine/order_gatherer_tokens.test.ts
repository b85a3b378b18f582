import test from "ava";
import type { CommandResult, Payment } from "../../src/database/calls.ts";
import { databaseError } from "../http/fake_pool.ts";
import type { FakeCall } from "../http/fake_pool.ts";
import {
  accept,
  accepted,
  heldDatabase,
  order,
  ordersOf,
  readyDatabase,
  ticks,
  withCode,
} from "./fake_gatherers.ts";

/** Orders that are not counted yet: who pays for them, when, and how often. */

const payersOf = (call: FakeCall) => (call.values.at(-1) as (string | null)[] | null) ?? [];
const isPaidBefore = (call: FakeCall, index: number) => (payersOf(call)[index] ?? null) === null;
const paid = { retryAfterSeconds: null, requestsPerMinute: 120, burstCapacity: 10, remaining: 9 };
const notPaid = {
  ...{ retryAfterSeconds: null, requestsPerMinute: null, burstCapacity: null, remaining: null },
};

/** A token that notes what becomes of it. */
function tokenOf(log: string[], name: string) {
  return {
    take: () => {
      log.push(`${name} takes`);
      return Promise.resolve();
    },
    taken: ({ allowed }: Payment) => {
      log.push(`${name} ${allowed === true ? "has paid" : "is refused"}`);
      if (allowed !== true) throw new Error("no token");
    },
  };
}

/** All pay what they owe. */
const acceptPaid = (call: FakeCall) =>
  ordersOf(call).map((placed, index) => ({
    ...accepted(placed),
    ...(isPaidBefore(call, index) ? notPaid : paid),
  }));

test("an order takes its token in its call; another of its user before", async (t) => {
  const log: string[] = [];
  const paying: string[][] = [];
  const database = heldDatabase(
    (call) => {
      log.push(`call of ${payersOf(call).join()}`);
      return acceptPaid(call);
    },
    {
      whilePaying: (users, run) => {
        paying.push(users);
        return run();
      },
    },
  );
  const one = { userId: "u" };
  const first = database.place(order("a", 1, one), tokenOf(log, "first"));
  const second = database.place(order("b", 2, one), tokenOf(log, "second"));
  const other = database.place(order("b", 3), tokenOf(log, "other"));
  await ticks(4);
  await database.end("a1 b3 b2");
  await Promise.all([first, second, other]);
  t.deepEqual(log, ["second takes", "call of u,u3,", "first has paid", "other has paid"]);
  t.deepEqual(paying, [["u", "u3"]]);
  const third = database.place(order("a", 4, one), tokenOf(log, "third"));
  await ticks(4);
  await database.end("a4");
  await third;
  t.deepEqual(log.slice(4), ["call of u", "third has paid"]);
});

test("a locked bucket: the token is taken before the order is placed again", async (t) => {
  const log: string[] = [];
  const { place, calls } = readyDatabase((call) =>
    ordersOf(call).map((placed, index) =>
      isPaidBefore(call, index)
        ? { ...accepted(placed), ...notPaid }
        : { ...withCode("AGAIN"), ...notPaid },
    ),
  );
  const result = await place(order("a", 1), tokenOf(log, "it"));
  t.is(result.body, "1");
  t.deepEqual(log, ["it takes"]);
  t.deepEqual(calls(), ["a1", "a1 !"]);
});

test("without a token an order is refused, and counts as no order", async (t) => {
  const log: string[] = [];
  const committed: CommandResult[] = [];
  const { place, calls } = readyDatabase(
    (call) => [
      { ...withCode("TOO_MANY_REQUESTS"), ...paid, remaining: 0 },
      { ...accepted(ordersOf(call)[1]!), ...paid },
    ],
    { onCommitted: (results) => committed.push(...results) },
  );
  const poor = place(order("a", 1), tokenOf(log, "poor"));
  const rich = place(order("a", 2), tokenOf(log, "rich"));
  await t.throwsAsync(poor, { message: "no token" });
  t.is((await rich).body, "2");
  t.deepEqual(log, ["poor is refused", "rich has paid"]);
  t.deepEqual(calls(), ["a1 a2"]);
  t.deepEqual(
    committed.map(({ body }) => body),
    ["2"],
  );
});

test("AGAIN after its token was taken: the order pays no second time", async (t) => {
  const log: string[] = [];
  const payers: (string | null)[][] = [];
  const { place } = readyDatabase((call) => {
    payers.push(payersOf(call));
    return payers.length === 1 ? [{ ...withCode("AGAIN"), ...paid }] : acceptPaid(call);
  });
  await place(order("a", 1), tokenOf(log, "it"));
  t.deepEqual(payers, [["u1"], []]);
  t.deepEqual(log, ["it has paid"]);
});

test("a call that failed took nothing: the next one takes the token", async (t) => {
  const log: string[] = [];
  const payers: (string | null)[][] = [];
  const { place } = readyDatabase((call) => {
    payers.push(payersOf(call));
    if (payers.length === 1) throw databaseError("40P01");
    return accept(call).map((result) => ({ ...result, ...paid }));
  });
  await place(order("a", 1), tokenOf(log, "it"));
  t.deepEqual(payers, [["u1"], ["u1"]]);
  t.deepEqual(log, ["it has paid"]);
});

/** A payment that lasts until it is made. */
function slowPayment() {
  let pay = (): void => undefined;
  const paid = new Promise<void>((resolve) => {
    pay = resolve;
  });
  return { pay, token: { take: () => paid, taken: () => undefined } };
}

test("an order that is paid apart is overtaken by no later one of its user", async (t) => {
  const log: string[] = [];
  const database = heldDatabase(acceptPaid);
  const of = (price: number) => order("m", price, { userId: "u" });
  const slow = slowPayment();
  const first = database.place(of(1), tokenOf(log, "first"));
  const rest = [database.place(of(2), slow.token)];
  await ticks(4);
  await database.end("m1");
  await first;
  rest.push(database.place(of(3), tokenOf(log, "third")), database.place(of(4)));
  await ticks(4);
  t.deepEqual(database.underWay(), []);
  slow.pay();
  await ticks(4);
  await database.end("m2 m3 m4");
  t.deepEqual(
    (await Promise.all(rest)).map(({ body }) => body),
    ["2", "3", "4"],
  );
});

test("orders that climb for two reasons go in their order, and later ones wait for both", async (t) => {
  const database = heldDatabase((call) =>
    ordersOf(call).map((placed, index) => {
      if (!isPaidBefore(call, index)) return { ...withCode("AGAIN"), ...notPaid };
      // A deep one, and what is behind it: see trading.leave_out.
      const deepAt = ordersOf(call).findIndex(({ quantity }) => quantity === 400);
      const isLeftOut = call.values[4] !== null && deepAt >= 0 && index >= deepAt;
      return { ...(isLeftOut ? withCode("AGAIN") : accepted(placed)), ...notPaid };
    }),
  );
  const of = (price: number, quantity: number) => order("m", price, { userId: "u", quantity });
  const slow = slowPayment();
  const done: unknown[] = [];
  const note = (placing: Promise<{ body: unknown }>) => {
    void placing.then(({ body }) => done.push(body));
  };
  void database.place(order("m", 9, { userId: "x", quantity: 400 }));
  await ticks(4);
  await database.end("m9");
  // Its lane goes alone now.
  note(database.place(of(1, 400)));
  note(database.place(of(2, 1), slow.token));
  note(database.place(of(3, 1)));
  for (let round = 0; round < 40; round++) {
    const [name] = database.underWay();
    if (name === undefined) database.pass(50);
    else await database.end(name);
    await ticks(6);
    if (done.includes("1")) slow.pay();
  }
  t.deepEqual(done, ["1", "2", "3"]);
});

test("an order whose bucket is locked overtakes no earlier one of its user", async (t) => {
  const log: string[] = [];
  let isLocked = true;
  const database = heldDatabase((call) =>
    ordersOf(call).map((placed, index) => {
      const payment = isPaidBefore(call, index) || placed.price === 3 ? notPaid : paid;
      const isAgain = isLocked && placed.marketId === "b";
      return { ...(isAgain ? withCode("AGAIN") : accepted(placed)), ...payment };
    }),
  );
  const u = { userId: "u" };
  const placed = [
    database.place(order("b", 8)),
    database.place(order("a", 1, u), tokenOf(log, "a1")),
    database.place(order("b", 2, u), tokenOf(log, "b2")),
  ];
  await ticks(4);
  await database.end("b8 a1 b2");
  // b8 and b2 wait for the market, a1 is answered: the next order of its user pays in its call.
  placed.push(database.place(order("b", 7)), database.place(order("b", 3, u), tokenOf(log, "b3")));
  await ticks(4);
  await database.end("b8 b2 !");
  await database.end("b8 !");
  await database.end("b7 b2 b3 !");
  isLocked = false;
  for (let round = 0; round < 20; round++) {
    for (const name of database.underWay()) await database.end(name);
    database.pass(100);
    await ticks(4);
  }
  await Promise.all(placed);
  const ended = database.calls().slice(-6).join();
  t.true(ended.lastIndexOf("b2") < ended.lastIndexOf("b3"), database.calls().join(", "));
});
