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

const timeOf = (time: string) => Date.parse(`2030-01-${time.includes("T") ? "" : "01T"}${time}Z`);

/** Ticks at these times; what was requested at each. `done` is what was requested before. */
async function requestedAt(
  times: string[],
  isClaimed = true,
  done: Record<string, string> = {},
): Promise<string[][]> {
  let requested: string[] = [];
  const tick = makeTicks({
    crontab,
    lastTicks: async () => Object.entries(done).map(([job, time]) => ({ job, atMs: timeOf(time) })),
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
    await tick(timeOf(time));
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

test("times that were missed count once, those of a day at most", async (t) => {
  const requested = await requestedAt(["03:15:00", "03:19:10", "12:00:30", "08T03:16:59"]);
  const ran = requested.map((texts) => texts.filter((text) => text.startsWith("run")));
  t.deepEqual(ran[1], ["run each__minute", "run each__night"]);
  t.true(requested[1]!.includes("each__minute 03:19"));
  t.true(requested[1]!.includes("each__night 03:17"));
  t.deepEqual(ran[2], ["run each__minute", "run each__fifth"]);
  t.deepEqual(ran[3], ["run each__minute", "run each__fifth", "run each__night"]);
  t.true(requested[3]!.includes("each__night 03:17"));
});

test("a worker that begins makes up what none requested since", async (t) => {
  const begun = async (time: string, done: Record<string, string>) =>
    (await requestedAt([time], true, done))[0]!.filter((text) => !text.startsWith("run"));
  const done = {
    each__minute: "05T03:10:00",
    each__fifth: "05T03:10:00",
    each__night: "04T03:17:00",
  };
  t.deepEqual(await begun("05T03:10:59", done), []);
  t.deepEqual(await begun("05T03:14:30", done), ["each__minute 03:14"]);
  const late = ["each__minute 14:02", "each__fifth 14:00", "each__night 03:17"];
  t.deepEqual(await begun("05T14:02:00", done), late);
  t.deepEqual(await begun("30T14:02:00", done), late);
  // Done since by another worker; never before; and a clock that was set back.
  t.deepEqual(
    await begun("05T14:02:00", { ...done, each__night: "05T03:17:00" }),
    late.slice(0, 2),
  );
  t.deepEqual(await begun("05T14:02:00", {}), []);
  t.deepEqual(await begun("03T14:02:00", done), []);
});

test("what another worker has claimed is not requested", async (t) => {
  t.deepEqual(await requestedAt(["03:03:30", "03:04:00"], false), [[], ["each__minute 03:04"]]);
});

test("a request that failed is made at the next time", async (t) => {
  const requested: string[] = [];
  let isDown = false;
  const tick = makeTicks({
    crontab,
    lastTicks: async () => [],
    claim: async () => true,
    request: async ({ name }) => {
      if (isDown) throw new Error("no connection");
      requested.push(name);
    },
  });
  await tick(timeOf("03:16:00"));
  isDown = true;
  await t.throwsAsync(tick(timeOf("03:17:00")), { message: "no connection" });
  isDown = false;
  await tick(timeOf("03:17:01"));
  t.deepEqual(requested, ["each__minute", "each__night"]);
  await tick(timeOf("03:17:02"));
  t.is(requested.length, 2);
});

test("a clock that is set back goes on from there", async (t) => {
  const [, , back, next] = await requestedAt(["03:03:00", "03:04:00", "02:00:30", "02:01:00"]);
  t.deepEqual(back, []);
  t.deepEqual(next, ["each__minute 02:01", "run each__minute"]);
});
