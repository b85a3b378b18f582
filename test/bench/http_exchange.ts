import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import { startChild } from "./children.ts";
import type { BenchDatabase } from "./cluster.ts";
import type { LoadResult, LoadTask } from "./http_load.ts";
import { initialisePgbench } from "./pgbench.ts";

export const TPCB_PATH = "/api/v1/bench/tpcb";
export const BARE_PATH = "/api/v1/bench/bare";

/**
 * Messages to the server process: the answer of its bare route, or a question for its CPU time or for
 * the figures of its standbys.
 */
export type ServerMessage = { bareAnswer: unknown } | "cpu" | "standbys";

/** A server process, and a process that loads it. */
export interface LoadedServer {
  url: string;
  tell: (message: ServerMessage) => void;
  /** The next message of the server. */
  next: () => Promise<unknown>;
  /** Sends the requests of each connection by turns. */
  load: (connections: string[][], seconds: number) => Promise<LoadResult>;
  end: () => Promise<void>;
}

/** Starts both; the arguments are those of http_server.ts. */
export async function startLoadedServer(...args: string[]): Promise<LoadedServer> {
  const server = startChild<ServerMessage>("http_server.ts", args);
  const generator = startChild<LoadTask>("http_load.ts");
  const end = async () => {
    await Promise.all([server.end(), generator.end()]);
  };
  try {
    const { url } = (await server.next()) as { url: string };
    return {
      url,
      tell: server.tell,
      next: server.next,
      load: async (connections, seconds) => {
        generator.tell({ url, connections, milliseconds: seconds * 1000 });
        return (await generator.next()) as LoadResult;
      },
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** A loaded server with a database of its own. */
export interface HttpExchange {
  database: BenchDatabase;
  /** Of each client's trader. */
  apiKeys: string[];
  /** Sends the requests of each connection by turns. */
  load: (connections: string[][], seconds: number) => Promise<LoadResult>;
  /** The processor time that the server process has used. */
  cpuMicroseconds: () => Promise<number>;
  /** Places one order; the bare route answers as that was answered. */
  prepareBare: (path: string, order: object) => Promise<void>;
  close: () => Promise<void>;
}

export async function openHttp(
  { sizes, cluster, pgbench }: Bench,
  name: string,
  { clients, firstTrader = 1 }: { clients: number; firstTrader?: number },
): Promise<HttpExchange> {
  const database = await cluster.createDatabase(name, { isServed: true });
  const { connectionString, environment, pool } = database;
  await initialisePgbench(pgbench, environment, sizes.tpcbScale);
  await pool.query(tpcbFunction);
  await liftRateLimits(pool);
  const apiKeys = await makeApiKeys(pool, clients, firstTrader);

  const server = await startLoadedServer(connectionString, String(sizes.tpcbScale));
  const { url, tell, load } = server;
  return {
    database,
    apiKeys,
    load,
    cpuMicroseconds: async () => {
      tell("cpu");
      return (await server.next()) as number;
    },
    prepareBare: async (path, order) => {
      const response = await fetch(url + path, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${apiKeys[0] ?? ""}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ ...order, idempotencyKey: randomUUID() }),
      });
      if (response.status !== 201) throw new Error(`An order was answered by ${response.status}`);
      tell({ bareAnswer: await response.json() });
    },
    close: async () => {
      await server.end();
      await database.drop();
    },
  };
}

/** The statements of pgbench's `tpcb-like`, in one call. */
const tpcbFunction = `
create function public.bench_tpcb(v_aid int, v_bid int, v_tid int, v_delta int)
returns text
language plpgsql security definer
as $$
declare
  v_balance int;
begin
  update public.pgbench_accounts set abalance = abalance + v_delta where aid = v_aid;
  select abalance into v_balance from public.pgbench_accounts where aid = v_aid;
  update public.pgbench_tellers set tbalance = tbalance + v_delta where tid = v_tid;
  update public.pgbench_branches set bbalance = bbalance + v_delta where bid = v_bid;
  insert into public.pgbench_history (tid, bid, aid, delta, mtime)
  values (v_tid, v_bid, v_aid, v_delta, current_timestamp);
  return json_build_object('balance', v_balance)::text;
end
$$;
grant execute on function public.bench_tpcb(int, int, int, int) to exchange_api`;

/** An API key for each of the traders. */
export async function makeApiKeys(
  pool: Pool,
  count: number,
  firstTrader: number,
): Promise<string[]> {
  const { rows } = await pool.query(
    `select admin.create_api_key(user_id => u.id, name => 'bench') as key
     from unnest($1::uuid[]) with ordinality as u (id, place)
     order by place`,
    [Array.from({ length: count }, (_, index) => publicId(firstTrader + index))],
  );
  return rows.map(({ key }) => key);
}
