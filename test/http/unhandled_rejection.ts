import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { runProcess } from "../../src/bin/run_process.ts";

/** A process with an unhandled rejection, of the kind that REJECTION names. */

const rejections: Record<string, () => Promise<unknown>> = {
  "pg.ECONNREFUSED": () => new pg.Client({ host: "127.0.0.1", port: 1 }).connect(),
  "pg.terminated": () => Promise.reject(new Error("Connection terminated unexpectedly")),
  "pg.password": () => Promise.reject(refusedLogin()),
  TypeError: () => Promise.reject(new TypeError("x is not a function")),
  "file.ENOENT": () => readFile("/there/is/no/such/file"),
};

function refusedLogin(): pg.DatabaseError {
  const error = new pg.DatabaseError("password authentication failed", 1, "error");
  error.code = "28P01";
  return error;
}

await runProcess(async ({ print, onClose, ending }) => {
  const alive = setInterval(() => undefined, 1000);
  onClose(() => {
    clearInterval(alive);
    return Promise.resolve();
  });
  void rejections[process.env.REJECTION ?? ""]?.();
  // Until the rejection has been seen.
  await delay(200);
  if (!ending.aborted) print("goes on");
});
