import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { startLoad } from "./load.ts";
import { newJournal, runDrill, seed, withClient } from "./run.ts";
import { startServer } from "./server_process.ts";
import type { ServerProcess } from "./server_process.ts";
import { isComplete } from "./stream_check.ts";
import { readUserIds, sendMarks, startStreamClient } from "./stream_clients.ts";
import { startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:streams [-- --rounds 6] [--short]`: two servers, clients that follow user streams
 * on either and come back with Last-Event-ID, and kills of the servers and the database under load.
 * Then compares what the clients got with the ledger: every event once, and in order. Ends with 1
 * if one is missing, is there twice, or stands elsewhere.
 */

interface TwoServers extends System {
  other: ServerProcess;
}

const { values } = parseArgs({
  options: { rounds: { type: "string" }, short: { type: "boolean", default: false } },
});
const rounds = Number(values.rounds ?? (values.short ? 3 : 8));
const beforeMs = values.short ? [300, 1000] : [500, 3000];

await runDrill(startBoth, drill);

async function startBoth(): Promise<TwoServers> {
  const system = await startSystem();
  try {
    const other = await startServer(system.cluster.server.connectionString);
    return {
      ...system,
      other,
      destroy: async () => {
        await other.end();
        await system.destroy();
      },
    };
  } catch (error) {
    await system.destroy();
    throw error;
  }
}

async function drill(system: TwoServers): Promise<boolean> {
  const { connect, url, other } = system;
  const urls = [url, other.url];
  const { marketIds, apiKeys } = await withClient(connect, seed);
  const userIds = await withClient(connect, readUserIds);
  const clients = userIds.map((userId, index) =>
    startStreamClient({ userId, urls, apiKey: apiKeys[index] ?? "" }),
  );
  // All clients are there before the first event.
  while (clients.some(({ frames }) => frames.length === 0)) {
    await withClient(connect, (client) => sendMarks(client, userIds, "first"));
    await delay(200);
  }
  const load = startLoad({
    ...{ url: (client) => urls[client % 2] ?? url, marketIds, apiKeys },
    ...{ journal: newJournal(), clients: 12 },
  });
  for (let round = 1; round <= rounds; round++) {
    const [shortest = 0, longest = 0] = beforeMs;
    await delay(randomInt(shortest, longest));
    await withClient(connect, (client) => pauseOne(client, marketIds));
    const target = await killSome(system, round);
    await load.nextAccepted();
    const got = clients.reduce((sum, { frames }) => sum + frames.length, 0);
    console.log(`round ${round}: killed ${target}; the clients have ${got} frames`);
  }
  await load.stop();
  return await withClient(connect, async (client) => {
    await settleOne(client, marketIds);
    await sendMarks(client, userIds, "last");
    await Promise.all(clients.map(({ until }) => until(({ type }) => type === "last")));
    await Promise.all(clients.map(({ stop }) => stop()));
    return await isComplete(client, clients);
  });
}

async function killSome(system: TwoServers, round: number): Promise<string> {
  const { killDatabase, killServer, other } = system;
  const kills = {
    "a server": killServer,
    "the database": killDatabase,
    "the other server": other.kill,
    "the database and both servers": async () => {
      await Promise.all([killDatabase(), killServer(), other.kill()]);
    },
  };
  const names = Object.keys(kills) as (keyof typeof kills)[];
  const name = names[round % names.length] ?? "a server";
  await kills[name]();
  return name;
}

async function pauseOne(client: Client, marketIds: string[]): Promise<void> {
  const marketId = marketIds[randomInt(marketIds.length)];
  for (const status of ["paused", "open"]) {
    await client.query("select admin.set_market_status(market_id => $1, status => $2)", [
      ...[marketId, status],
    ]);
  }
}

async function settleOne(client: Client, marketIds: string[]): Promise<void> {
  await client.query("select admin.resolve_market(market_id => $1, outcome => 'yes')", [
    marketIds[0],
  ]);
}
