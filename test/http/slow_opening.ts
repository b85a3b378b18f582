import { setTimeout as delay } from "node:timers/promises";
import { runProcess } from "../../src/bin/run_process.ts";

/** A process that gets SIGTERM while it opens a worker that needs its database. */

await runProcess(async ({ print, onClose, openWhenReady }) => {
  const closing = (what: string) => () => {
    print(`${what} closed`);
    return Promise.resolve();
  };
  onClose(closing("database"));
  await openWhenReady(async () => {
    process.kill(process.pid, "SIGTERM");
    // Longer than a process waits for what it was trying when the signal came.
    await delay(1500);
    print("worker opened");
    return { close: closing("worker") };
  });
});
