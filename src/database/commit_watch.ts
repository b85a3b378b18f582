import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import { DatabaseFailure } from "./failures.ts";

/** Whether the database confirms commits: it may answer reads, and wait for a standby with the rest. */
export interface CommitWatch {
  /** For how long nothing was confirmed that this process tried to commit. 0 while commits pass. */
  waitMs: () => number;
  /** Makes a call that commits. One at a time. */
  during: (call: () => Promise<void>) => Promise<void>;
}

/** Watches calls that are made every few seconds. */
export function watchCommits(): CommitWatch {
  let since: number | undefined;
  return {
    waitMs: () => (since === undefined ? 0 : performance.now() - since),
    // A call that fails says nothing of commits: while one waits, it holds the locks that the next
    // calls then wait for in vain. One without a connection, or that may only read, commits nothing.
    during: async (call) => {
      const before = since;
      since ??= performance.now();
      try {
        await call();
        since = undefined;
      } catch (error) {
        if (commitsNothing(error)) since = before;
        throw error;
      }
    },
  };
}

/** The SQLSTATE of a write in a session that may only read, as on a standby. */
const READ_ONLY = "25006";

function commitsNothing(error: unknown): boolean {
  return (
    error instanceof DatabaseFailure &&
    (error.kind === "unreachable" || error.sqlstate === READ_ONLY)
  );
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
