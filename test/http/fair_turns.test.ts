import test from "ava";
import { fairTurns } from "../../src/http/fair_turns.ts";

/** How many requests of an address begin in one turn of the event loop. */

const nextTurn = () => new Promise<void>((go) => setImmediate(go));

/** Sends requests through one handler, and notes which have begun, and whose bodies have ended. */
function sender() {
  const handler = fairTurns();
  const begun: string[] = [];
  const ended: string[] = [];
  const ends = new Map<string, () => void>();
  /** A request says how long its body is, or sends it in chunks. */
  const send = (name: string, ip: string, { bytes = 2049, chunked = false } = {}) => {
    const response = { destroyed: false };
    const request = {
      ip,
      headers: chunked ? { "transfer-encoding": "chunked" } : { "content-length": String(bytes) },
      push: (piece: unknown) => {
        if (piece === null) ended.push(name);
        return true;
      },
    };
    handler(request, response, () => begun.push(name));
    ends.set(name, () => {
      request.push(Buffer.alloc(bytes - 1));
      request.push(Buffer.alloc(1));
      request.push(null);
    });
    return response;
  };
  const end = (name: string): void => {
    ends.get(name)!();
  };
  return { begun, ended, send, end };
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

for (const chunked of [false, true]) {
  const how = chunked ? "in chunks" : "with its length";

  test(`a small body ${how} that ends later has no other turn`, async (t) => {
    const { ended, end, send } = sender();
    const names = Array.from({ length: 20 }, (_, index) => `request ${index}`);
    for (const name of names) send(name, "192.0.2.1", { bytes: 2048, chunked });
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    names.forEach(end);
    t.deepEqual(ended, names);
  });

  test(`large bodies ${how} that end later end eight in a turn of their address`, async (t) => {
    const { ended, end, send } = sender();
    const names = Array.from({ length: 20 }, (_, index) => `request ${index}`);
    for (const name of names) send(name, "192.0.2.1", { chunked });
    const gone = send("gone", "192.0.2.1");
    send("another", "192.0.2.2");
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    gone.destroyed = true;
    for (const name of [...names.slice(0, 19), "gone", names[19]!, "another"]) end(name);
    t.deepEqual(ended, [...names.slice(0, 8), "another"]);
    await nextTurn();
    t.is(ended.length, 17);
    await nextTurn();
    t.deepEqual(ended, [...names.slice(0, 8), "another", ...names.slice(8)]);
  });
}

test("a body that ends in the turn of its beginning has no other turn", async (t) => {
  const { begun, ended, end, send } = sender();
  const names = Array.from({ length: 12 }, (_, index) => `request ${index}`);
  for (const name of names) {
    send(name, "192.0.2.1");
    if (begun.includes(name)) end(name);
  }
  t.deepEqual(ended, names.slice(0, 8));
  await nextTurn();
  for (const name of names.slice(8)) end(name);
  t.deepEqual(ended, names);
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
