import test from "ava";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { startProcess } from "../helpers/processes/service_process.ts";

/** A worker that cannot send mail says so. */

const warning = "SMTP_URL is not set: this worker sends no mail";
const mailServer = { SMTP_URL: "smtp://127.0.0.1:1", PUBLIC_URL: "https://markets.example" };

let database: OwnDatabase;
test.before("make a database", async () => {
  database = await createDatabase({ empty: true });
  await migrateDatabase(database.connectionString);
});
test.after.always("drop it", async () => {
  await database.drop();
});

for (const [what, settings, warns] of [
  ["without SMTP_URL warns that it sends no mail", {}, true],
  ["with SMTP_URL does not", mailServer, false],
] as const) {
  test(`a worker ${what}`, async (t) => {
    const settingsOfWorker = { WORKER_DATABASE_URL: database.connectionString, ...settings };
    const worker = startProcess(t, "worker.ts", settingsOfWorker);
    t.true(await worker.says("working"), worker.errors());
    worker.kill("SIGTERM");
    t.is(await worker.exited, 0);
    t.is(worker.errors().includes(warning), warns);
  });
}
