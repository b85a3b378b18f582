import test from "ava";
import { ignoreForeignNotifications } from "../../src/worker/own_notifications.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

const database = testDatabase(test);

test("the queue ignores notifications of schema changes by a login, and no others", async (t) => {
  const pool = database.connectAs("exchange_worker", { max: 1 });
  ignoreForeignNotifications(pool);
  const client = await pool.connect();
  const heard: (string | undefined)[] = [];
  const last = new Promise<void>((resolve) => {
    client.on("notification", ({ channel, payload }) => {
      heard.push(channel);
      if (payload === "last") resolve();
    });
  });
  await client.query('listen "worker:migrate"; listen "jobs:insert"');
  const analyst = database.connectAs("exchange_analyst", { max: 1 });
  await analyst.query("select pg_notify('jobs:insert', '{}')");
  await analyst.query(`select pg_notify('worker:migrate', '{"breaking":true}')`);
  await analyst.query("select pg_notify('jobs:insert', 'last')");
  await last;
  t.deepEqual(heard, ["jobs:insert", "jobs:insert"]);
  client.release();
});
