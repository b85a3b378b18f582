import { basename } from "node:path";
import test from "ava";
import { parseCronItems } from "graphile-worker";
import { crontab } from "../../jobs/crontab.ts";
import { listFiles } from "../helpers/repository.ts";

test("each file of jobs/ is a job of that name, and each job has its line", (t) => {
  const files = listFiles("jobs").map((path) => basename(path, ".ts"));
  t.deepEqual(
    crontab.map(({ job }) => job.name).sort(),
    files.filter((name) => name !== "crontab"),
  );
});

test("names of jobs are a noun and a verb", (t) => {
  for (const { job } of crontab) t.regex(job.name, /^[a-z]+(?:_[a-z]+)*__[a-z]+$/);
});

test("times are those of a crontab", (t) => {
  const times = crontab.flatMap(({ when }) => ("cron" in when ? [when.cron] : []));
  t.true(times.length > 0);
  for (const match of times) t.notThrows(() => parseCronItems([{ task: "any", match }]));
});

test("nothing that is due is left to two jobs", (t) => {
  const kinds = crontab.flatMap(({ when }) => ("due" in when ? [when.due] : []));
  t.deepEqual(kinds, [...new Set(kinds)]);
});
