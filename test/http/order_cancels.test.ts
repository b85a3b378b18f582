import test from "ava";
import { pino } from "pino";
import { callsOn } from "../../src/database/call.ts";
import { createCallLimiter } from "../../src/database/call_limiter.ts";
import { createUserTurns } from "../../src/engine/user_turns.ts";
import { api } from "../../src/database/calls.ts";
import { commandLimits } from "../../src/engine/ladder.ts";
import { cancelOrders } from "../../src/api/order_batches.ts";
import { databaseError, fakePool } from "./fake_pool.ts";
import type { FakeCall } from "./fake_pool.ts";

/** A batch of cancels during which the database fails. */

const logger = pino({ level: "silent" });

const outcomeOf = (orderId: unknown) => [
  { code: null, message: null, replayed: false, body: `{"order":{"id":"${String(orderId)}"}}` },
];

async function cancelThree(rowsOf: (call: FakeCall) => unknown[]) {
  const { pool, calls } = fakePool({ answer: rowsOf });
  const limiter = createCallLimiter({ limits: commandLimits(1) });
  const turns = createUserTurns(limiter, pool);
  const services = { commands: callsOn(pool, api), turns, logger };
  const answer = await cancelOrders(services, "user", ["a", "b", "c"]);
  return { answer, calls };
}

test("internal: one id fails, the others are cancelled, the balance is read", async (t) => {
  const { answer } = await cancelThree(({ name, values: [, , orderId] }) => {
    if (name !== "run_command") return [{ value: '{"balance":7}' }];
    if (orderId === "b") throw databaseError("XX000");
    return outcomeOf(orderId);
  });
  t.deepEqual(answer, {
    cancelled: [{ id: "a" }, { id: "c" }],
    failures: [{ orderId: "b", code: "internal" }],
    balance: { total: 7, available: 7 },
  });
});

test("internal: when the database is lost, no other id waits for it", async (t) => {
  const { answer, calls } = await cancelThree(({ values: [, , orderId] }) => {
    if (orderId === "a") return outcomeOf(orderId);
    throw databaseError("57P01", "FATAL");
  });
  t.deepEqual(answer, {
    cancelled: [{ id: "a" }],
    failures: [
      { orderId: "b", code: "internal" },
      { orderId: "c", code: "internal" },
    ],
    balance: null,
  });
  t.is(calls.length, 2);
});

test("the balance is null when it can't be read", async (t) => {
  const { answer } = await cancelThree(({ name, values: [, , orderId] }) => {
    if (name === "run_command") return outcomeOf(orderId);
    throw databaseError("XX000");
  });
  t.is(answer.cancelled.length, 3);
  t.is(answer.balance, null);
});
