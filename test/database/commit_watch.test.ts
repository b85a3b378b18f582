import test from "ava";
import { watchCommits } from "../../src/database/commit_watch.ts";
import { passTime } from "../helpers/pass_time.ts";

/** For how long no commit was confirmed, as the calls of a process tell. */

test("the wait goes on through calls that fail, until a commit is confirmed", async (t) => {
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
