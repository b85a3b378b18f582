import { mock } from "node:test";
import test from "ava";
import { keepBatches } from "../../src/website/api/kept_batches.ts";
import { forgetAnswers } from "../../src/website/api/kept_store.ts";
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
        removeItem: (key) => void stored.delete(key),
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

test.serial("answers that cannot be drawn are dropped, also from the storage", async (t) => {
  const { asked, load, read } = keep((id) => ({ ok: true, data: `of ${id}` }));
  await read("a");
  forgetAnswers();
  await read("a");
  await load().read("a");
  t.deepEqual(asked, ["a", "a"]);
});

test.serial("an answer that is dropped is asked for anew", async (t) => {
  const { asked, load, drop, read } = keep((id) => ({ ok: true, data: `of ${id}` }));
  await read("a");
  await read("b");
  drop("a");
  await read("a");
  await load().read("b");
  t.deepEqual(asked, ["a", "b", "a"]);
});

test.serial("many ids are one question, and only those that are not known", async (t) => {
  const asked: string[][] = [];
  let isOpen = true;
  const { read, readAnew } = keepBatches({
    ...{ name: "many", keptMs: KEPT_MS, most: 3, store: undefined },
    ask: async (ids) => {
      asked.push(ids);
      if (!isOpen) return { ok: false, problem: { status: 429, error: "Too many requests" } };
      const known = ids.filter((id) => id !== "x");
      return await Promise.resolve({ ok: true, data: new Map(known.map((id) => [id, `${id}!`])) });
    },
  });
  const [first, second] = await Promise.all([read(["b", "a", "a"]), read(["b", "a", "c"])]);
  t.deepEqual([...first.values()], ["b!", "a!", "a!"].slice(0, 2));
  t.deepEqual([...second.keys()], ["b", "a", "c"]);
  t.deepEqual(asked, [["a", "b"], ["c"]], "sorted, and none twice");
  await read(["g", "f", "e", "d"]);
  t.deepEqual(asked.slice(2), [["d", "e", "f"], ["g"]]);
  t.is((await read(["x"])).size, 0);
  isOpen = false;
  mock.timers.tick(KEPT_MS);
  t.is((await read(["a"])).size, 0, "lists show without it");
  isOpen = true;
  t.deepEqual([...(await read(["a"]))], [["a", "a!"]]);
  asked.length = 0;
  t.deepEqual([...(await readAnew(["a"])).values()], ["a!"]);
  await Promise.all([read(["h"]), readAnew(["h"])]);
  t.deepEqual(asked, [["a"], ["h"], ["h"]], "also while the first question is under way");
  isOpen = false;
  t.deepEqual([...(await readAnew(["a"])).values()], ["a!"], "what cannot be read stays");
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

test.serial("a page reads again after a problem that passes, with others and not at once", (t) => {
  const problem = { status: 429, error: "Too many requests" };
  t.is(retryDelayMs(problem), undefined);
  t.is(retryDelayMs({ ...problem, retryAfterSeconds: 3 }, 0), 3000);
  t.is(retryDelayMs({ ...problem, retryAfterSeconds: 3 }, 0.5), 4000);
  const error = "";
  for (const status of [0, 502, 503, 504]) t.is(retryDelayMs({ status, error }, 0), 5000);
  t.is(retryDelayMs({ status: 200, error, code: "CONFLICT_RETRY" }, 0), 5000);
  for (const status of [200, 401, 403, 404, 500]) t.is(retryDelayMs({ status, error }), undefined);
});

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
