import { fork } from "node:child_process";
import { join } from "node:path";
import { liftRateLimits } from "../helpers/limits.ts";
import { checkLedger, expectCount, readNumber } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { endProcess, nextMessage } from "./children.ts";
import type { BenchDatabase } from "./cluster.ts";
import { publicId } from "./catalogue.ts";
import { formatPost } from "./http_load.ts";
import type { LoadResult, LoadTask } from "./http_load.ts";
import { makerOrder, restDepth, takerOrder } from "./orders.ts";
import { initialisePgbench } from "./pgbench.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

const CONNECTIONS = 64;
/** Of each connection, taken by turns. */
const READY_REQUESTS = 100;

/** One hot market over HTTP, against the same server calling `tpcb-like` as one function. */
export async function measureHotMarketOverHttp(bench: Bench): Promise<Result[]> {
  const { sizes, cluster, pgbench } = bench;
  const database = await cluster.createDatabase("hot_market_http", { isServed: true });
  const { pool } = database;
  await initialisePgbench(pgbench, database.environment, sizes.tpcbScale);
  await pool.query(tpcbFunction);
  await restDepth(pool, 1, CONNECTIONS / 2);
  const keys = await makeKeys(database);
  await liftRateLimits(pool);

  const server = fork(join(import.meta.dirname, "http_server.ts"), [
    database.connectionString,
    String(sizes.tpcbScale),
  ]);
  const generator = fork(join(import.meta.dirname, "http_load.ts"));
  try {
    const { url } = (await nextMessage(server)) as { url: string };
    const load = (path: string) => {
      const connections = keys.map((key, index) => requestsOf(path, key, index + 1));
      return async (seconds: number) => {
        const task: LoadTask = { url, connections, milliseconds: seconds * 1000 };
        generator.send(task);
        const { perSecond, statuses } = (await nextMessage(generator)) as LoadResult;
        const refused = Object.entries(statuses).filter(([status]) => status !== "201");
        if (refused.length > 0) throw new Error(`HTTP answers: ${JSON.stringify(statuses)}`);
        placed += path === "/api/v1/orders" ? (statuses["201"] ?? 0) : 0;
        return perSecond;
      };
    };
    let placed = await readNumber(pool, "select count(*) from trading.orders");
    const figures = await measureInRounds(sizes, sizes.seconds, {
      name: "hot market over HTTP",
      reference: load("/api/v1/bench/tpcb"),
      ours: load("/api/v1/orders"),
    });
    expectCount("orders", await readNumber(pool, "select count(*) from trading.orders"), placed);
    await checkLedger(database);
    const bar =
      `one hot market through HTTP, ${CONNECTIONS} keep-alive clients / ` +
      "the same server calling tpcb-like as one function";
    return [{ bar, unit: "1/s", must: 0.8, aim: 2, ...figures }];
  } finally {
    await Promise.all([server, generator].map(endProcess));
    await database.drop();
  }
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

/** An API key for each connection's trader. */
async function makeKeys({ pool }: BenchDatabase): Promise<string[]> {
  const { rows } = await pool.query(
    `select admin.create_api_key(user_id => u.id, name => 'bench') as key
     from unnest($1::uuid[]) with ordinality as u (id, place)
     order by place`,
    [Array.from({ length: CONNECTIONS }, (_, index) => publicId(index + 1))],
  );
  return rows.map(({ key }) => key);
}

/** The first half of the traders make the market, the others take from it. */
function requestsOf(path: string, key: string, trader: number): string[] {
  return Array.from({ length: READY_REQUESTS }, () =>
    formatPost(path, key, {
      marketId: publicId(1),
      ...(trader <= CONNECTIONS / 2 ? makerOrder() : takerOrder()),
    }),
  );
}
