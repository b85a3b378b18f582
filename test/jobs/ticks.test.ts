import test from "ava";
import type { Job } from "../../src/worker/job.ts";
import { makeTicks } from "../../src/worker/ticks.ts";

const run = () => Promise.resolve();
const crontab: Job[] = [
  { name: "each__minute", cron: "* * * * *", run },
  { name: "each__fifth", cron: "*/5 * * * *", run },
  { name: "each__night", cron: "17 3 * * *", run },
  { name: "when__due", due: "release", run },
];

/** Ticks at these times; what was requested at each. */
async function requestedAt(times: string[], isClaimed = true): Promise<string[][]> {
  let requested: string[] = [];
  const tick = makeTicks({
    crontab,
    claim: async ({ name }, at) => {
      requested.push(`${name} ${at.toISOString().slice(11, 16)}`);
      return isClaimed;
    },
    request: async ({ name }) => {
      requested.push(`run ${name}`);
    },
  });
  const all: string[][] = [];
  for (const time of times) {
    requested = [];
    await tick(Date.parse(`2030-01-01T${time}Z`));
    all.push(requested);
  }
  return all;
}

test("jobs are requested once for each minute, from the one after the start on", async (t) => {
  t.deepEqual(await requestedAt(["03:03:30", "03:03:59.999", "03:04:00", "03:04:30", "03:05:01"]), [
    [],
    [],
    ["each__minute 03:04", "run each__minute"],
    [],
    ["each__minute 03:05", "run each__minute", "each__fifth 03:05", "run each__fifth"],
  ]);
});

test("minutes that were missed count once, and those of more than an hour ago not at all", async (t) => {
  const [, afterMinutes, afterHours] = await requestedAt(["03:15:00", "03:19:10", "12:00:30"]);
  t.deepEqual(
    afterMinutes!.filter((text) => text.startsWith("run")),
    ["run each__minute", "run each__night"],
  );
  t.true(afterMinutes!.includes("each__minute 03:19"));
  t.true(afterMinutes!.includes("each__night 03:17"));
  t.deepEqual(
    afterHours!.filter((text) => text.startsWith("run")),
    ["run each__minute", "run each__fifth"],
  );
});

test("what another worker has claimed is not requested", async (t) => {
  t.deepEqual(await requestedAt(["03:03:30", "03:04:00"], false), [[], ["each__minute 03:04"]]);
});

test("a clock that is set back goes on from there", async (t) => {
  const [, , back, next] = await requestedAt(["03:03:00", "03:04:00", "02:00:30", "02:01:00"]);
  t.deepEqual(back, []);
  t.deepEqual(next, ["each__minute 02:01", "run each__minute"]);
});
