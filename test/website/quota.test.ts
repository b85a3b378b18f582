import test from "ava";
import { noteQuota, paceMs } from "../../src/website/api/quota.ts";

/** The headers of an answer of which so many more are allowed. */
function answer(left: Record<string, number>, { quota = 120, seconds = 60 } = {}): Headers {
  const names = Object.keys(left);
  return new Headers({
    "RateLimit-Policy": names.map((name) => `"${name}";q=${quota};w=${seconds}`).join(", "),
    RateLimit: names.map((name) => `"${name}";r=${left[name]};t=3`).join(", "),
  });
}

test.serial("the fewer requests are left, the slower pages read", (t) => {
  const paces = [120, 72, 71, 48, 47, 30, 29, 0].map((left) => {
    noteQuota(answer({ "v1-user": left }), 0);
    return paceMs(0);
  });
  t.deepEqual(paces, [0, 0, 5000, 5000, 10_000, 10_000, 30_000, 30_000]);
});

test.serial("the window with the least left counts, until its requests have left it", (t) => {
  noteQuota(answer({ "v1-auth": 40, "v1-user": 100 }), 0);
  t.is(paceMs(59_999), 10_000);
  noteQuota(answer({ v1: 40 }, { quota: 60 }), 59_999);
  t.is(paceMs(59_999), 10_000);
  t.is(paceMs(60_000), 0);
});

test.serial("what pages do not read in, and answers that say nothing, do not count", (t) => {
  noteQuota(answer({ "v1-auth": 120, "v1-user": 120, v1: 120 }), 0);
  noteQuota(answer({ "sign-in": 0, "v1-cancel-all": 0 }, { seconds: 900 }), 0);
  noteQuota(new Headers(), 0);
  noteQuota(new Headers({ RateLimit: '"v1-user";r=1' }), 0);
  noteQuota(new Headers({ "RateLimit-Policy": '"v1-user";q=120;w=60' }), 0);
  t.is(paceMs(0), 0);
});
