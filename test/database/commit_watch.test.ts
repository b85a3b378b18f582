import test from "ava";
import pg from "pg";
import { watchCommits } from "../../src/database/commit_watch.ts";
import { DatabaseFailure } from "../../src/database/failures.ts";
import type { FailureKind } from "../../src/database/failures.ts";
import { passTime } from "../helpers/pass_time.ts";

/** For how long no commit was confirmed, as the calls of a process tell. */

test.serial("the wait goes on through calls that fail, until a commit is confirmed", async (t) => {
  const { during, waitMs } = watchCommits();
  const fail = (message: string) => during(() => Promise.reject(new Error(message)));
  const seconds = () => Math.round(waitMs() / 1000);
  t.is(waitMs(), 0);
  let giveUp: (error: Error) => void = () => undefined;
  const first = during(
    () =>
      new Promise((_resolve, reject) => {
        giveUp = reject;
      }),
  );
  passTime(31_000);
  t.is(seconds(), 31);
  giveUp(new Error("the connection was lost"));
  await t.throwsAsync(first, { message: "the connection was lost" });
  passTime(10_000);
  // The first commit still waits, and holds the lock on the row.
  await t.throwsAsync(fail("canceling statement due to lock timeout"));
  passTime(10_000);
  t.is(seconds(), 51);
  await during(() => Promise.resolve());
  t.is(waitMs(), 0);
  passTime(5000);
  t.is(waitMs(), 0);
});

test.serial("calls without a connection are no commits that wait, and end no wait", async (t) => {
  const { during, waitMs } = watchCommits();
  const fail = (kind: FailureKind) => during(() => Promise.reject(new DatabaseFailure(kind)));
  await t.throwsAsync(fail("unreachable"));
  passTime(40_000);
  t.is(waitMs(), 0);
  await t.throwsAsync(fail("lost"));
  passTime(40_000);
  await t.throwsAsync(fail("unreachable"));
  t.is(Math.round(waitMs() / 1000), 40);
});

test.serial("calls that may only read are no commits that wait, and end no wait", async (t) => {
  const { during, waitMs } = watchCommits();
  const refusal = new pg.DatabaseError("read-only transaction", 0, "error");
  refusal.code = "25006";
  const fail = (failure: DatabaseFailure) => during(() => Promise.reject(failure));
  await t.throwsAsync(fail(new DatabaseFailure("conflict", refusal)));
  passTime(40_000);
  t.is(waitMs(), 0);
  await t.throwsAsync(fail(new DatabaseFailure("conflict")));
  passTime(40_000);
  await t.throwsAsync(fail(new DatabaseFailure("conflict", refusal)));
  t.is(Math.round(waitMs() / 1000), 40);
});
