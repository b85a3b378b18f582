import test from "ava";
import { fairTurns } from "../../src/http/fair_turns.ts";

/** How many requests of an address begin in one turn of the event loop. */

const nextTurn = () => new Promise<void>((go) => setImmediate(go));

/** Sends requests through one handler, and notes which have begun. */
function sender() {
  const handler = fairTurns();
  const begun: string[] = [];
  const send = (name: string, ip: string) => {
    const response = { destroyed: false };
    handler({ ip }, response, () => begun.push(name));
    return response;
  };
  return { begun, send };
}

test("eight begin in a turn, the others in the turns after it, in their order", async (t) => {
  const { begun, send } = sender();
  const names = Array.from({ length: 20 }, (_, index) => `request ${index}`);
  for (const name of names) send(name, "192.0.2.1");
  t.deepEqual(begun, names.slice(0, 8));
  await nextTurn();
  t.deepEqual(begun, names.slice(0, 16));
  await nextTurn();
  t.deepEqual(begun, names);
});

test("another address does not wait for them, and nor does an address that begins anew", async (t) => {
  const { begun, send } = sender();
  for (let count = 0; count < 1000; count++) send("one of many", "192.0.2.1");
  send("another", "192.0.2.2");
  t.is(begun.at(-1), "another");
  await nextTurn();
  send("another again", "192.0.2.2");
  t.is(begun.at(-1), "another again");
  t.is(begun.length, 8 + 1 + 8 + 1);
});

test("a request does not overtake those of its address that wait", async (t) => {
  const { begun, send } = sender();
  for (let count = 0; count < 17; count++) send("early", "192.0.2.1");
  await nextTurn();
  send("late", "192.0.2.1");
  t.deepEqual(
    begun,
    Array.from({ length: 16 }, () => "early"),
  );
  await nextTurn();
  t.deepEqual(begun.slice(16), ["early", "late"]);
});

test("a network of IPv6 is one address", (t) => {
  const { begun, send } = sender();
  for (let host = 1; host <= 20; host++) send("one", `2001:db8::${host}`);
  t.is(begun.length, 8);
});

test("a request whose client has left meanwhile does not begin", async (t) => {
  const { begun, send } = sender();
  for (let count = 0; count < 8; count++) send("first", "192.0.2.1");
  const left = send("left", "192.0.2.1");
  send("last", "192.0.2.1");
  left.destroyed = true;
  await nextTurn();
  t.deepEqual(begun.slice(8), ["last"]);
});
