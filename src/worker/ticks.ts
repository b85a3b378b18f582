import { parseCronItems } from "graphile-worker";
import type { Job } from "./job.ts";

export interface TicksOptions {
  crontab: Job[];
  /** For which time each job was last requested, by any worker. */
  lastTicks: () => Promise<readonly { job: string; atMs: number }[]>;
  /** Whether this worker is the one that requests the job for this minute. */
  claim: (job: Job, tickAt: Date) => Promise<boolean>;
  request: (job: Job) => Promise<void>;
}

const MINUTE_MS = 60_000;
/** Of times that were missed, those of the last day count: each job of a day has one in it. */
const MOST_STEPS = 1440;

/** A job with the times at which it may run, and which of them it has. */
interface Timed {
  job: Job;
  stepMs: number;
  match: (at: Date) => boolean;
}

/**
 * Returns the function that requests what the crontab has for the times since its last call, each
 * job once. At the first call these are the times since any worker requested the job, so what was
 * missed while none worked is made up. It is given the time of the database, so that the clocks of
 * workers do not matter.
 */
export function makeTicks({
  crontab,
  lastTicks,
  claim,
  request,
}: TicksOptions): (atMs: number) => Promise<void> {
  const jobs = crontab.flatMap(timesOf);
  let lastMs: number | undefined;
  let begunMs: Map<string, number> | undefined;
  /** Claimed, and not requested yet: the request may fail. */
  const owed = new Set<Job>();

  return async (atMs) => {
    begunMs ??= new Map((await lastTicks()).map((tick) => [tick.job, tick.atMs]));
    for (const { job, stepMs, match } of jobs) {
      const step = Math.floor(atMs / stepMs);
      const last = Math.floor((lastMs ?? begunMs.get(job.name) ?? atMs) / stepMs);
      const from = Math.max(last, step - MOST_STEPS) + 1;
      for (let tick = step; tick >= from; tick--) {
        const at = new Date(tick * stepMs);
        if (!match(at)) continue;
        if (await claim(job, at)) owed.add(job);
        break;
      }
      for (const claimed of owed) {
        await request(claimed);
        owed.delete(claimed);
      }
    }
    lastMs = atMs;
  };
}

function timesOf(job: Job): Timed[] {
  if ("everySeconds" in job) {
    return [{ job, stepMs: job.everySeconds * 1000, match: () => true }];
  }
  if (!("cron" in job)) return [];
  return parseCronItems([{ task: job.name, match: job.cron }]).map(({ match }) => ({
    job,
    stepMs: MINUTE_MS,
    match: (at) => match(digestOf(at)),
  }));
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
