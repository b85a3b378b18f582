import test from "ava";
import { startProcess } from "../helpers/processes/service_process.ts";

/** A worker that cannot send mail says so, before it waits for anything. */

const unreachable = "postgres://worker@127.0.0.1:1/none";
const warning = "SMTP_URL is not set: this worker sends no mail";

test("a worker without SMTP_URL warns that it sends no mail", async (t) => {
  const worker = startProcess(t, "worker.ts", { WORKER_DATABASE_URL: unreachable });
  t.true(await worker.says("waiting for the database"), worker.errors());
  t.true(worker.errors().includes(warning));
  worker.kill("SIGTERM");
  await worker.exited;
});

test("a worker with SMTP_URL does not", async (t) => {
  const worker = startProcess(t, "worker.ts", {
    WORKER_DATABASE_URL: unreachable,
    SMTP_URL: "smtp://127.0.0.1:1",
    PUBLIC_URL: "https://markets.example",
  });
  t.true(await worker.says("waiting for the database"), worker.errors());
  t.false(worker.errors().includes(warning));
  worker.kill("SIGTERM");
  await worker.exited;
});
