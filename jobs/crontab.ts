import type { Job, When } from "../src/worker/job.ts";
import { countersRemove } from "./counters__remove.ts";
import { keysRemove } from "./keys__remove.ts";
import { leaderboardRefresh } from "./leaderboard__refresh.ts";
import { ledgerVerify } from "./ledger__verify.ts";
import { marketsClose } from "./markets__close.ts";
import { ordersArchive } from "./orders__archive.ts";
import { ordersExpire } from "./orders__expire.ts";
import { ordersRelease } from "./orders__release.ts";
import { sentEventsRemove } from "./sent_events__remove.ts";
import { sessionsRemove } from "./sessions__remove.ts";

/** Every job and when it runs. Times are UTC, as in a crontab: minute, hour, day, month, weekday. */
export const crontab: { job: Job; when: When }[] = [
  { job: ordersRelease, when: { due: "release" } },
  { job: ordersExpire, when: { due: "expire" } },
  { job: marketsClose, when: { due: "close" } },
  { job: leaderboardRefresh, when: { cron: "* * * * *" } },
  { job: keysRemove, when: { cron: "*/5 * * * *" } },
  { job: countersRemove, when: { cron: "*/5 * * * *" } },
  { job: sentEventsRemove, when: { cron: "*/5 * * * *" } },
  { job: ordersArchive, when: { cron: "*/10 * * * *" } },
  { job: sessionsRemove, when: { cron: "*/15 * * * *" } },
  { job: ledgerVerify, when: { cron: "17 3 * * *" } },
];
