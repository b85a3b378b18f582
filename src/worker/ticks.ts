import { parseCronItems } from "graphile-worker";
import type { Job } from "./job.ts";

export interface TicksOptions {
  crontab: Job[];
  /** Whether this worker is the one that requests the job for this minute. */
  claim: (job: Job, tickAt: Date) => Promise<boolean>;
  request: (job: Job) => Promise<void>;
}

const MINUTE_MS = 60_000;
/** Of minutes that were missed, the last ones count. */
const MOST_MINUTES = 60;

/**
 * Returns the function that requests what the crontab has for the minutes since its last call. It is
 * given the time of the database, so that the clocks of workers do not matter.
 */
export function makeTicks({
  crontab,
  claim,
  request,
}: TicksOptions): (atMs: number) => Promise<void> {
  const jobs = crontab.flatMap((job) =>
    "cron" in job
      ? parseCronItems([{ task: job.name, match: job.cron }]).map(({ match }) => ({ job, match }))
      : [],
  );
  let last: number | undefined;

  return async (atMs) => {
    const minute = Math.floor(atMs / MINUTE_MS);
    const from = Math.max(last ?? minute, minute - MOST_MINUTES) + 1;
    for (const { job, match } of jobs) {
      for (let tick = minute; tick >= from; tick--) {
        const at = new Date(tick * MINUTE_MS);
        if (!match(digestOf(at))) continue;
        if (await claim(job, at)) await request(job);
        break;
      }
    }
    last = minute;
  };
}

function digestOf(at: Date): Parameters<ReturnType<typeof parseCronItems>[number]["match"]>[0] {
  return {
    min: at.getUTCMinutes(),
    hour: at.getUTCHours(),
    date: at.getUTCDate(),
    month: at.getUTCMonth() + 1,
    dow: at.getUTCDay(),
  };
}
