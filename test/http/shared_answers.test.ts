import test from "ava";
import { createSharedAnswers } from "../../src/http/shared_answers.ts";
import type { Turn } from "../../src/database/failures.ts";

/** Calls and timers that the test ends. */
function controlled(mostBytes = 100) {
  const calls: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const timers: (() => void)[] = [];
  const answers = createSharedAnswers<string>({
    mostBytes,
    bytesOf: ({ length }) => length,
    later: (work) => {
      timers.push(work);
      return () => undefined;
    },
  });
  let begun = 0;
  const call = () =>
    new Promise<string>((resolve, reject) => {
      begun++;
      calls.push({ resolve, reject });
    });
  return {
    ask: (key: string, turn: Turn = (attempt) => attempt()) => answers.ask(key, call, turn),
    begun: () => begun,
    end: (value: string) => {
      calls.shift()!.resolve(value);
    },
    fail: () => {
      calls.shift()!.reject(new Error("failed"));
    },
    passTime: () => {
      timers.splice(0).forEach((work) => {
        work();
      });
    },
  };
}

test("one call for all that ask at once, and for those that ask while it is kept", async (t) => {
  const { ask, begun, end, passTime } = controlled();
  const all = [ask("a"), ask("a"), ask("b")];
  t.is(begun(), 2);
  end("one");
  end("two");
  t.deepEqual(await Promise.all(all), ["one", "one", "two"]);
  t.is(await ask("a"), "one");
  passTime();
  const later = ask("a");
  end("three");
  t.is(await later, "three");
  t.is(begun(), 3);
});

test("a failure is of those that waited for it, and is not kept", async (t) => {
  const { ask, fail, end } = controlled();
  const both = [ask("a"), ask("a")];
  fail();
  for (const one of both) await t.throwsAsync(one, { message: "failed" });
  const next = ask("a");
  end("one");
  t.is(await next, "one");
});

test("no more is kept than there is room for", async (t) => {
  const { ask, begun, end, passTime } = controlled(3);
  for (const key of ["a", "b"]) {
    const asked = ask(key);
    end("two");
    await asked;
  }
  await ask("a");
  t.is(begun(), 2);
  const again = ask("b");
  t.is(begun(), 3);
  end("two");
  await again;
  passTime();
  const afterwards = ask("b");
  end("two");
  await afterwards;
  await ask("b");
  t.is(begun(), 4);
});

test("nobody waits for the turn of another client", async (t) => {
  const { ask, begun, end } = controlled();
  let itsTurn = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (itsTurn = resolve));
  const busy = ask("a", async (attempt) => {
    await waiting;
    return await attempt();
  });
  const other = ask("a");
  end("one");
  t.is(await other, "one");
  itsTurn();
  t.is(await busy, "one");
  t.is(begun(), 1);
});
