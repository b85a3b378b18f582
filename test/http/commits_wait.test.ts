import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import { pino } from "pino";
import { examine } from "../../src/doctor/examine.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { startServer } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { callService } from "../helpers/http/test_service.ts";
import { passTime } from "../helpers/pass_time.ts";
import { until } from "../helpers/until.ts";

/** A primary whose synchronous standby is lost answers reads, and confirms no commit. */

const logger = pino({ level: "silent" });

test("503 commits_wait: no commit was confirmed for 30 s, until a standby is back", async (t) => {
  const cluster = await startTemporaryCluster("commits", { database: "postgres" });
  const { connectionString } = cluster.server;
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    await migrateDatabase(connectionString);
    const service = await startServer({
      ...{ connectionString, logger },
      config: { host: "127.0.0.1", port: 0, poolSize: 3, trustProxy: false },
    });
    try {
      await lose(t, client, service);
    } finally {
      await service.close();
    }
  } finally {
    await client.end();
    await cluster.destroy();
  }
});

async function lose(
  t: ExecutionContext,
  client: pg.Client,
  { url, context }: RunningServer,
): Promise<void> {
  const setStandbys = async (names: string): Promise<void> => {
    await client.query(`alter system set synchronous_standby_names = '${names}'`);
    await client.query("select pg_reload_conf()");
  };
  const ready = async () => (await callService(url, "GET", "/readyz")).body.reason;
  const waitSeconds = async (): Promise<number> => {
    passTime(1000);
    const { body } = await callService(url, "GET", "/metrics");
    return Number(/^pgmarkets_commit_wait_seconds (.*)$/m.exec(body)?.[1]);
  };
  const findings = async () => {
    const { findings: found } = await examine(client, undefined);
    return found.map(({ urgency, about, problem }) => `${urgency} ${about}: ${problem}`);
  };
  // Without a standby that is as good as on.
  await client.query("set synchronous_commit = local");
  t.false((await findings()).some((finding) => finding.includes("synchronous_commit")));
  t.is(await ready(), undefined);
  await until("commits pass", () => Promise.resolve(context.commits.waitMs() === 0));
  t.is(await waitSeconds(), 0);

  await setStandbys("lost");
  await until("the server waits", async () => {
    const { rows } = await client.query(
      "select from pg_stat_activity where wait_event = 'SyncRep' and query like '%note_process%'",
    );
    return rows.length > 0;
  });
  t.is(await ready(), undefined, "another standby may take the place of the lost one");
  passTime(31_000);
  t.is(await ready(), "commits_wait");
  t.true((await waitSeconds()) > 30);
  const [first, ...others] = await findings();
  t.is(first, "now standby: commits wait for a standby, and none is connected");
  t.true(
    others.includes("now settings: acknowledged orders can be lost: synchronous_commit is local"),
  );
  t.is((await callService(url, "GET", "/api/v1/markets")).status, 200);

  await setStandbys("");
  await until("the server is ready", async () => (await ready()) === undefined);
  t.is(await waitSeconds(), 0);
}
