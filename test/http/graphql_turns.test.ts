import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { pino } from "pino";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { callService } from "../helpers/http/test_service.ts";
import { until } from "../helpers/until.ts";

/** While an answer is made, a process does nothing else: callers of GraphQL take turns. */

const database = testDatabase(test);
let service: RunningServer;
const keys: string[] = [];

/** The queries under way, by their text, each with what ends it. */
const running = new Map<string, () => void>();

test.serial.before("serve", async () => {
  const operators = database.connectAs("exchange_operator");
  for (const name of ["Ada", "Ben", "Cleo"]) {
    const { rows } = await operators.query("select admin.create_staff_key($1, 'analyst') as key", [
      name,
    ]);
    keys.push(rows[0].key);
  }
  service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: false },
    logger: pino({ level: "silent" }),
    graphql: {
      analysts: {
        role: "analyst",
        execute: async (_credential, { query }) => {
          await new Promise<void>((end) => running.set(query, end));
          running.delete(query);
          return { data: { said: query } };
        },
        prepare: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
    },
  });
});
test.after.always("stop", async () => {
  await service.close();
});

const ask = (who: number, query: string): Promise<unknown> =>
  callService(service.url, "POST", "/graphql", { key: keys[who]!, body: { query } });

test.serial(
  "a caller has one query under way, all together two, and the others take turns",
  async (t) => {
    const answers = [ask(0, "Ada 1")];
    await until("the first runs", async () => running.has("Ada 1"));
    answers.push(ask(0, "Ada 2"));
    await delay(50);
    t.deepEqual([...running.keys()], ["Ada 1"]);

    answers.push(ask(1, "Ben 1"));
    await until("another caller's runs", async () => running.has("Ben 1"));
    answers.push(ask(2, "Cleo 1"));
    await delay(50);
    t.deepEqual([...running.keys()], ["Ada 1", "Ben 1"]);

    running.get("Ben 1")!();
    await until("the third caller's runs", async () => running.has("Cleo 1"));
    t.deepEqual([...running.keys()], ["Ada 1", "Cleo 1"]);
    running.get("Ada 1")!();
    await until("the second of the first", async () => running.has("Ada 2"));
    for (const end of running.values()) end();
    t.deepEqual(
      (await Promise.all(answers)).map((answer) => (answer as { status: number }).status),
      [200, 200, 200, 200],
    );
  },
);
