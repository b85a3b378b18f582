import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { cut } from "../../src/database/cut.ts";
import { startLoad } from "./load.ts";
import type { Journal } from "./load.ts";
import type { PatroniCluster, PatroniNode } from "./patroni_cluster.ts";
import type { ServerProcess } from "./server_process.ts";
import { withClient } from "./run.ts";
import { connectTo } from "./system.ts";

/** Clients that know one node only, and go on writing to it when it is no longer the primary. */

/** Markets, traders and the user for whom deposits are made. */
export interface Seeded {
  marketIds: string[];
  apiKeys: string[];
  depositorId: string;
}

/** What a node has taken from those that stay with it. */
export interface WatchedNode {
  /** From now on it must take nothing: another node is the primary. */
  isReplaced: () => void;
  /** Settles when all is answered. */
  stop: () => Promise<void>;
  /** What it took too late, and what it took that the primary does not have once. */
  findViolations: (primary: PatroniNode) => Promise<string[]>;
  /** How often it was tried, in words. */
  summary: () => string;
}

interface Deposit {
  reference: string;
  sentAt: number;
  /** Of the WAL that it stands in, if it was confirmed. */
  timeline?: number;
}

const WRITERS = 2;
const PAUSE_MS = 200;
const ANSWER_TIMEOUT_MS = 4000;
/** Servers give other clients the numbers before. */
const FIRST_CLIENT = 32;

let lastReference = 0;

export interface WatchOptions {
  site: PatroniCluster;
  node: PatroniNode;
  /** Knows this node alone. */
  server: ServerProcess;
  seeded: Seeded;
  journal: Journal;
}

/** Starts clients of the server of this node, and sessions that write to the node. */
export function watchNode(options: WatchOptions): WatchedNode {
  const { site, node, server, journal } = options;
  const { marketIds, apiKeys, depositorId } = options.seeded;
  const load = startLoad({
    ...{ url: server.url, marketIds, apiKeys, journal, onlyOnce: true },
    ...{ clients: WRITERS, firstClient: FIRST_CLIENT, pauseMs: PAUSE_MS },
  });
  const deposits: Deposit[] = [];
  const state = { isStopping: false, replacedAt: Infinity };
  const write = async (): Promise<void> => {
    while (!state.isStopping) {
      const one: Deposit = { reference: `direct ${++lastReference}`, sentAt: performance.now() };
      deposits.push(one);
      await deposit(site.addressOf("postgres", node), depositorId, one).catch(() => undefined);
      await delay(PAUSE_MS);
    }
  };
  const writers = Array.from({ length: WRITERS }, write);
  const confirmed = () => deposits.filter(({ timeline }) => timeline !== undefined);
  return {
    isReplaced: () => {
      state.replacedAt = performance.now();
    },
    stop: async () => {
      state.isStopping = true;
      await Promise.all([load.stop(), ...writers]);
      await server.end();
    },
    findViolations: async (primary) => {
      const late = confirmed().filter(({ sentAt }) => sentAt > state.replacedAt);
      return [
        ...late.map(({ reference }) => `${node.name} took ${reference} after it was replaced`),
        ...(load.lastAcceptedAt() > state.replacedAt
          ? [`the server of ${node.name} accepted an order after it was replaced`]
          : []),
        ...(await findLost(site.addressOf("postgres", primary), confirmed())),
      ];
    },
    summary: () => {
      const late = deposits.filter(({ sentAt }) => sentAt > state.replacedAt);
      return `of ${deposits.length} direct writes to it ${confirmed().length} were confirmed, none of the last ${late.length}`;
    },
  };
}

/** A deposit on a session of its own, with the timeline in which it was written. */
async function deposit(connectionString: string, userId: string, one: Deposit): Promise<void> {
  const limits = {
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  };
  const client = new pg.Client({ connectionString, ...limits });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(
      `select admin.deposit(user_id => $1, amount_cents => 1, reference => $2),
         ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as timeline`,
      [userId, one.reference],
    );
    one.timeline = rows[0].timeline;
  } finally {
    // A node that stands still would not answer a farewell.
    cut(client);
  }
}

async function findLost(connectionString: string, confirmed: Deposit[]): Promise<string[]> {
  return await withClient(
    () => connectTo(connectionString),
    async (client) => {
      const { rows } = await client.query<{ reference: string }>(
        `select c.reference
         from unnest($1::text[]) as c(reference)
         left join ledger.cash_movements as m on m.kind = 'deposit' and m.reference = c.reference
         group by c.reference
         having count(m.journal_id) <> 1`,
        [confirmed.map(({ reference }) => reference)],
      );
      return rows.map(({ reference }) => `not there once, though confirmed: ${reference}`);
    },
  );
}
