import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { checkLedger } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { Opening } from "./change_streams_clients.ts";
import { startChild } from "./children.ts";
import { place, randomBetween, restDepth } from "./orders.ts";
import type { Result } from "./report.ts";
import { roundsOf } from "./rounds.ts";

const MARKETS = 50;
/** Changes that are far enough apart not to be shown together. */
const PAUSE_MS = 150;

/**
 * A change of a market to its clients, as a change on a connection for 50 markets and as a snapshot
 * on one for this market alone: the bytes for each client, and the processor time of the server. Both
 * kinds of clients hear of the same changes, from a server of each kind.
 */
export async function measureChangeStreams(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const clients = Math.min(...sizes.streamClients);
  const database = await cluster.createDatabase("change_streams", { isServed: true });
  await liftRateLimits(database.pool);
  await database.pool.query(
    "select admin.set_stream_cap(holder => 'address', max_streams => 100000)",
  );
  await restDepth(database.pool, 1, Math.min(100, sizes.traders / 2));
  for (let price = 1; price <= 40; price++) {
    await place(database.pool, 1, [
      { userId: publicId(1), side: "yes", price, quantity: 10 },
      { userId: publicId(1), side: "no", price, quantity: 10 },
      { userId: publicId(sizes.traders), side: "yes", price: 55, quantity: 10 },
    ]);
  }
  const all = Array.from({ length: MARKETS }, (_, index) => publicId(index + 1)).join(",");
  const groups = [
    await startGroup(database.connectionString, {
      ...{ path: `/api/v1/markets/${publicId(1)}/stream`, clients, gzip: false },
    }),
    await startGroup(database.connectionString, {
      ...{ path: `/api/v1/stream?markets=${all}`, clients, gzip: false },
    }),
    await startGroup(database.connectionString, {
      ...{ path: `/api/v1/stream?markets=${all}`, clients, gzip: true },
    }),
  ] as const;
  try {
    const rounds: Figures[][] = [];
    for (const { isCounted } of roundsOf(sizes)) {
      const before = await Promise.all(groups.map(({ read }) => read()));
      let changes = 0;
      for (const end = performance.now() + sizes.seconds * 1000; performance.now() < end;) {
        await place(database.pool, 1, [
          { userId: publicId(2), side: "yes", price: randomBetween(1, 40), quantity: 1 },
        ]);
        changes++;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      const after = await Promise.all(groups.map(({ read }) => read()));
      if (!isCounted) continue;
      rounds.push(
        after.map(({ bytes, cpuMicros }, index) => ({
          bytes: (bytes - (before[index]?.bytes ?? 0)) / changes / clients,
          cpuMicros: (cpuMicros - (before[index]?.cpuMicros ?? 0)) / changes,
        })),
      );
    }
    await checkLedger(database);
    return resultsOf(rounds, clients);
  } finally {
    await Promise.all(groups.map(({ end }) => end()));
    await database.drop();
  }
}

interface Figures {
  bytes: number;
  cpuMicros: number;
}

function resultsOf(rounds: Figures[][], clients: number): Result[] {
  const figuresOf = (kind: keyof Figures, group: number) =>
    rounds.map((groups) => groups[group]?.[kind] ?? NaN);
  const of = `of ${clients.toLocaleString("en")} clients with ${MARKETS} markets each`;
  const sent = "a snapshot on a connection for one market";
  return ["plain", "gzip"].flatMap((form, index): Result[] => [
    {
      target: `bytes for a change to one ${of}, ${form} / ${sent}`,
      ...{ unit: "B", must: 0.1, aim: 0.05 },
      ...{ reference: figuresOf("bytes", 0), ours: figuresOf("bytes", index + 1) },
    },
    {
      target: `processor time of a server for a change to all ${of}, ${form} / ${sent}`,
      ...{ unit: "µs", must: 1.2, aim: 1 },
      ...{ reference: figuresOf("cpuMicros", 0), ours: figuresOf("cpuMicros", index + 1) },
    },
  ]);
}

interface Group {
  read: () => Promise<Figures>;
  end: () => Promise<void>;
}

/** A server, and clients of one kind that have had their first frames. */
async function startGroup(connectionString: string, opening: Omit<Opening, "url">): Promise<Group> {
  const server = startChild<"cpu">("change_streams_server.ts", [connectionString]);
  const clients = startChild<Opening | "bytes">("change_streams_clients.ts");
  const end = async () => {
    await Promise.all([server.end(), clients.end()]);
  };
  try {
    const url = (await server.next()) as string;
    clients.tell({ ...opening, url });
    await clients.next();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    read: async () => {
      const [cpuMicros, bytes] = [server.next(), clients.next()];
      server.tell("cpu");
      clients.tell("bytes");
      return { cpuMicros: (await cpuMicros) as number, bytes: (await bytes) as number };
    },
    end,
  };
}
