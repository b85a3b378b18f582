import { mock } from "node:test";
import test from "ava";
import { keepAnswers } from "../../src/website/api/kept_answers.ts";
import { mayBeLive } from "../../src/website/components/may_be_live.ts";
import { resultOf, retryDelayMs } from "../../src/website/api/result.ts";
import type { Result } from "../../src/website/api/result.ts";

const KEPT_MS = 1000;

test.beforeEach(() => {
  mock.timers.enable({ apis: ["Date"], now: 0 });
});

test.afterEach.always(() => {
  mock.timers.reset();
});

/** A storage of a browser, and questions that are answered by `answer`. */
function keep(
  answer: (id: string) => Result<string>,
  { stored = new Map<string, string>() }: { stored?: Map<string, string> } = {},
) {
  const asked: string[] = [];
  const load = () =>
    keepAnswers({
      ...{ name: "test", keptMs: KEPT_MS },
      ask: async (id) => {
        asked.push(id);
        return await Promise.resolve(answer(id));
      },
      store: {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, value) => void stored.set(key, value),
      },
    });
  return { asked, load, ...load() };
}

test.serial("an answer is kept for its time, also over a load of the page", async (t) => {
  const { asked, load, read } = keep((id) => ({ ok: true, data: `of ${id}` }));
  const known = { ok: true, data: "of a" } as const;
  t.deepEqual(await Promise.all([read("a"), read("a")]), [known, known]);
  mock.timers.tick(KEPT_MS - 1);
  t.deepEqual(await read("a"), known);
  t.deepEqual(await load().read("a"), known);
  t.deepEqual(asked, ["a"]);
  await read("b");
  mock.timers.tick(1);
  await read("a");
  t.deepEqual(asked, ["a", "b", "a"]);
});

test.serial("429: nothing is asked until the server takes more", async (t) => {
  const tooMany = { status: 429, error: "Too many requests", retryAfterSeconds: 2 };
  let isOpen = false;
  const { asked, read } = keep(() =>
    isOpen ? { ok: true, data: "x" } : { ok: false, problem: tooMany },
  );
  t.deepEqual(await read("a"), { ok: false, problem: tooMany });
  mock.timers.tick(1500);
  isOpen = true;
  const refused = { ok: false, problem: { ...tooMany, retryAfterSeconds: 1 } } as const;
  t.deepEqual(await read("b"), refused);
  t.deepEqual(asked, ["a"]);
  mock.timers.tick(500);
  t.true((await read("b")).ok);
});

test.serial("a storage that has other things in it, or takes nothing, does no harm", async (t) => {
  const stored = new Map([["pgmarkets.test.a", "{"]]);
  stored.set = () => {
    throw new RangeError("QuotaExceededError");
  };
  const { asked, read } = keep(() => ({ ok: true, data: "x" }), { stored });
  t.true((await read("a")).ok);
  t.true((await read("a")).ok);
  t.deepEqual(asked, ["a"]);
});

test.serial(
  "a page reads again when the server said that it takes more, with others and not at once",
  (t) => {
    const problem = { status: 429, error: "Too many requests" };
    t.is(retryDelayMs(problem), undefined);
    t.is(retryDelayMs({ ...problem, retryAfterSeconds: 3 }, 0), 3000);
    t.is(retryDelayMs({ ...problem, retryAfterSeconds: 3 }, 0.5), 4000);
  },
);

test.serial(
  "any answer with Retry-After says when to read again, also that of a token",
  async (t) => {
    const response = new Response(null, { status: 429, headers: { "Retry-After": "7" } });
    const result = await resultOf(Promise.resolve({ error: "", response }));
    t.false(result.ok);
    if (!result.ok) t.is(retryDelayMs(result.problem, 0), 7000);
  },
);

test.serial("an event may be live between its times, and at any time without them", (t) => {
  const [before, after] = ["2030-01-01T11:00:00Z", "2030-01-01T13:00:00Z"];
  const at = (startsAt: string | null, endsAt: string | null) =>
    mayBeLive({ startsAt, endsAt }, Date.parse("2030-01-01T12:00:00Z"));
  t.deepEqual([at(null, null), at(before, after), at(null, after)], [true, true, true]);
  t.deepEqual([at(after, null), at(null, before)], [false, false]);
});
