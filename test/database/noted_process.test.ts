import test from "ava";
import { pino } from "pino";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import { version } from "../../src/version.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";
import { until } from "../helpers/until.ts";

/** A server and a worker note in the database that they run, and that they end. */

const exchange = testExchange(test);

async function kinds(): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(
    "select kind from core.processes where system_number = $1 and version = $2 order by kind",
    [process.pid, version],
  );
  return rows.map(({ kind }) => kind);
}

test("a server and a worker are listed while they run, and not after their end", async (t) => {
  const { database } = exchange;
  await makeQueue(database);
  const server = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: false },
    logger: pino({ level: "silent" }),
  });
  await until("the server is listed", async () => (await kinds()).join() === "server");
  const worker = await startTestWorker(database);
  await until("both are listed", async () => (await kinds()).join() === "server,worker");
  await worker.close();
  t.deepEqual(await kinds(), ["server"]);
  await server.close();
  t.deepEqual(await kinds(), []);
});
