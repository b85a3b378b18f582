import { basename } from "node:path";
import test from "ava";
import { parseCronItems } from "graphile-worker";
import { crontab as always } from "../../jobs/crontab.ts";
import { publishHistory } from "../../jobs/history__publish.ts";
import { sendMail } from "../../jobs/mail__send.ts";
import { printingTransport } from "../../src/mail/transport.ts";
import { listFiles } from "../helpers/repository.ts";

const transport = printingTransport(() => undefined);
const publishing = publishHistory({ proofWebhookUrl: "http://x.example", timeStampUrl: undefined });
const crontab = [...always, ...publishing, sendMail({ transport, siteUrl: "" })];
const names = crontab.map(({ name }) => name);

test("each job has one line, and each other file of jobs/ is named after a job", (t) => {
  t.deepEqual(names, [...new Set(names)]);
  const files = listFiles("jobs").map((path) => basename(path, ".ts"));
  t.deepEqual(
    files.filter((file) => file !== "crontab" && !names.includes(file)),
    [],
  );
});

test("names of jobs are a noun and a verb", (t) => {
  for (const name of names) t.regex(name, /^[a-z]+(?:_[a-z]+)*__[a-z]+$/);
});

test("times are those of a crontab", (t) => {
  const times = crontab.flatMap((job) => ("cron" in job ? [job.cron] : []));
  t.true(times.length > 0);
  for (const match of times) t.notThrows(() => parseCronItems([{ task: "any", match }]));
});

test("no two jobs process the same due rows", (t) => {
  const kinds = crontab.flatMap((job) => ("due" in job ? [job.due] : []));
  t.deepEqual(kinds, [...new Set(kinds)]);
});
