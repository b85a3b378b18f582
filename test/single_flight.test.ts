import test from "ava";
import { singleFlight, singleFlightAfter, singleFlightByKey } from "../src/single_flight.ts";

/** Calls that the test ends, in the order in which they began. */
function controlled() {
  const open: { resolve: (value: string) => void; reject: (error: unknown) => void }[] = [];
  let begun = 0;
  return {
    call: () =>
      new Promise<string>((resolve, reject) => {
        begun++;
        open.push({ resolve, reject });
      }),
    begun: () => begun,
    end: (value: string) => open.shift()?.resolve(value),
    fail: () => open.shift()?.reject(new Error("failed")),
  };
}

test("callers at the same time share a call, and the next one makes another", async (t) => {
  const { begun, call, end } = controlled();
  const share = singleFlight(call);
  const both = [share(), share()];
  end("first");
  t.deepEqual(await Promise.all(both), ["first", "first"]);
  const next = share();
  end("second");
  t.is(await next, "second");
  t.is(begun(), 2);
});

test("a result that holds is given without a call until its time is over", async (t) => {
  const { begun, call, end } = controlled();
  const share = singleFlight(call, 60_000);
  const first = share();
  end("first");
  await first;
  t.is(await share(), "first");
  t.is(begun(), 1);
  const started = performance.now();
  performance.now = () => started + 60_001;
  try {
    const late = share();
    end("late");
    t.is(await late, "late");
  } finally {
    Reflect.deleteProperty(performance, "now");
  }
});

test("a failure fails all that share the call, and no later call", async (t) => {
  const { call, end, fail } = controlled();
  const share = singleFlight(call, 60_000);
  const both = [share(), share()];
  fail();
  for (const one of both) await t.throwsAsync(one, { message: "failed" });
  const next = share();
  end("again");
  t.is(await next, "again");
});

test("callers share a call by their key", async (t) => {
  const asked: string[] = [];
  const share = singleFlightByKey(async (key) => {
    asked.push(key);
    await new Promise(setImmediate);
    return key;
  });
  t.deepEqual(await Promise.all([share("a"), share("b"), share("a")]), ["a", "b", "a"]);
  t.is(await share("a"), "a");
  t.deepEqual(asked, ["a", "b", "a"]);
});

test("callers during a call share the next one", async (t) => {
  const { begun, call, end, fail } = controlled();
  const share = singleFlightAfter(call);
  const first = share();
  const later = [share(), share()];
  t.is(begun(), 1);
  fail();
  await t.throwsAsync(first, { message: "failed" });
  await new Promise(setImmediate);
  t.is(begun(), 2);
  end("second");
  t.deepEqual(await Promise.all(later), ["second", "second"]);
});
