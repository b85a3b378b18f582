import { Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** Whether the database confirms commits: it may answer reads, and wait for a standby with the rest. */
export interface CommitWatch {
  /** For how long nothing was confirmed that this process tried to commit. 0 while commits pass. */
  waitMs: () => number;
  close: () => void;
}

const TRY_EVERY_MS = 5000;

/** Commits something every few seconds, one attempt at a time. */
export function watchCommits(tryCommit: () => Promise<void>): CommitWatch {
  let since: number | undefined;
  let isUnderWay = false;

  async function attempt(): Promise<void> {
    if (isUnderWay) return;
    isUnderWay = true;
    since ??= performance.now();
    try {
      await tryCommit();
      since = undefined;
    } catch {
      // The next attempt may succeed.
    }
    isUnderWay = false;
  }

  void attempt();
  const timer = setInterval(() => void attempt(), TRY_EVERY_MS);
  timer.unref();
  return {
    waitMs: () => (since === undefined ? 0 : performance.now() - since),
    close: () => {
      clearInterval(timer);
    },
  };
}

/** Shows for how long commits have waited. */
export function gaugeCommits(registry: Registry, { waitMs }: CommitWatch): void {
  new Gauge({
    name: "pgmarkets_commit_wait_seconds",
    help: "For how long no commit of this process was confirmed; 0 while commits pass",
    registers: [registry],
    collect() {
      this.set(waitMs() / 1000);
    },
  });
}
