import { inDueMarkets, untilDone } from "../src/worker/job.ts";
import type { Job } from "../src/worker/job.ts";
import { makeCandles } from "./candles__make.ts";
import { fireDeadManSwitches } from "./dead_man_switches__fire.ts";
import { sealHistory } from "./history__seal.ts";
import { verifyLedger } from "./ledger__verify.ts";
import { releaseOrders } from "./orders__release.ts";
import { publishProof } from "./proof__publish.ts";

/**
 * Every job: when it runs and what it does. `cron` is in UTC: minute, hour, day, month, weekday. A
 * job with `due` runs when the tables have work of that kind. A job that does more than call its
 * function has a file of its own.
 */
export const crontab: Job[] = [
  { name: "orders__release", due: "release", run: releaseOrders },
  { name: "dead_man_switches__fire", due: "deadMan", run: fireDeadManSwitches },
  { name: "orders__expire", due: "expire", run: inDueMarkets("dueExpiries", "expireOrders") },
  { name: "markets__close", due: "close", run: inDueMarkets("dueClosings", "closeMarkets") },
  { name: "markets__open", due: "open", run: inDueMarkets("dueOpenings", "openMarkets") },
  {
    name: "leaderboard__refresh",
    cron: "* * * * *",
    run: untilDone((calls) => calls.refreshLeaderboard({ pause: "10 ms" })),
  },
  { name: "candles__make", cron: "* * * * *", run: makeCandles },
  {
    name: "accounts__value",
    cron: "*/10 * * * *",
    run: untilDone((calls) => calls.valueAccounts()),
  },
  { name: "keys__remove", cron: "*/5 * * * *", run: untilDone((calls) => calls.removeKeys()) },
  {
    name: "counters__remove",
    cron: "*/5 * * * *",
    run: untilDone((calls) => calls.removeCounters()),
  },
  {
    name: "sent_events__partition",
    cron: "3 * * * *",
    run: untilDone((calls) => calls.makeEventPartitions()),
  },
  {
    name: "sent_events__remove",
    cron: "*/5 * * * *",
    run: untilDone((calls) => calls.removeSentEvents()),
  },
  {
    name: "orders__archive",
    cron: "*/10 * * * *",
    run: untilDone((calls) => calls.archiveOrders()),
  },
  {
    name: "sessions__remove",
    cron: "*/15 * * * *",
    run: untilDone((calls) => calls.removeSessions()),
  },
  {
    name: "mails__remove",
    cron: "*/15 * * * *",
    run: untilDone((calls) => calls.removeMails()),
  },
  {
    name: "sign_ups__remove",
    cron: "7 * * * *",
    run: untilDone((calls) => calls.removeSignUps()),
  },
  { name: "history__seal", everySeconds: 5, run: sealHistory },
  { name: "proof__publish", cron: "23 0 * * *", run: publishProof },
  { name: "ledger__verify", cron: "17 3 * * *", run: verifyLedger },
];
