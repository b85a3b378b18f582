import type { Client } from "pg";
import { until } from "../helpers/until.ts";
import type { ServerProcess, WorkerProcess } from "./server_process.ts";

/** What servers and workers leave when the last of them has ended. */

/** What keeps the database running is connected to another one. */
const sessions = `
  select a.application_name, a.state, a.query
  from pg_stat_activity as a
  where a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
    and a.datname = current_database()`;

/** How long the database may take to end sessions of processes that have ended. */
const SESSIONS_END_MS = 5000;

/** Ends all in order. What is left of them and of those that were killed before, in words. */
export async function findLeftBehind(
  client: Client,
  servers: ServerProcess[],
  workers: WorkerProcess[],
): Promise<string[]> {
  const noted = await readNoted(client);
  const running = noted.filter(isRunning);
  const faults: string[] = [];
  if (running.length < servers.length) faults.push(`only ${running.length} processes are noted`);
  await Promise.all([...servers, ...workers].map(({ stop }) => stop()));
  const ended = new Set(running);
  for (const number of await readNoted(client)) {
    if (ended.has(number)) faults.push(`process ${number} has ended and is still noted`);
  }
  faults.push(...noted.filter(isRunning).map((number) => `process ${number} is left running`));
  const areOver = async () => (await client.query(sessions)).rows.length === 0;
  await until("sessions end", areOver, SESSIONS_END_MS).catch(() => undefined);
  const { rows: left } = await client.query(sessions);
  faults.push(...left.map((session) => `a session is left: ${JSON.stringify(session)}`));
  return faults;
}

/** The numbers of all that have noted themselves in the last hour. */
async function readNoted(client: Client): Promise<number[]> {
  const { rows } = await client.query<{ number: number }>(
    "select p.system_number as number from core.processes as p",
  );
  return rows.map(({ number }) => number);
}

function isRunning(number: number): boolean {
  try {
    process.kill(number, 0);
    return true;
  } catch {
    return false;
  }
}
