import { randomUUID } from "node:crypto";
import { join } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import type { Pool } from "pg";
import { findViolations } from "../drills/check.ts";
import { startLoad } from "../drills/load.ts";
import type { Answer, Journal } from "../drills/load.ts";
import { commandsOf } from "../drills/run.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import { liftRateLimits } from "../helpers/database/rate_limits.ts";
import { startProcess } from "../helpers/processes/service_process.ts";
import { callService } from "../helpers/http/test_service.ts";
import { listFixtures, restoreFixture } from "./fixture.ts";
import type { Facts } from "./fixture.ts";
import { makeLaterVersion, runIn } from "./later_version.ts";
import { cashCents } from "./checks.ts";

/** An upgrade without a stop, as docs/operating.md says that it goes. */

const CLIENTS = 4;
/** Steady, and little enough to leave the processors to the servers. */
const PAUSE_MS = 25;

/** Older ones may miss what a later version took away: the page says so. */
const facts = (await listFixtures()).at(-1);

if (facts !== undefined) {
  test(`${facts.version} is replaced by a later version while its clients trade`, async (t) => {
    const [old, later] = await Promise.all([restoreFixture(facts), makeLaterVersion()]);
    const { pool, connectionString } = old.database;
    try {
      await liftRateLimits(pool);
      await upgrade(t, facts, { pool, connectionString, old, later });
    } finally {
      await old.destroy();
      await later.destroy();
    }
  });
}

interface Place {
  pool: Pool;
  connectionString: string;
  old: { directory: string };
  later: { directory: string; added: string[] };
}

async function upgrade(t: ExecutionContext, facts: Facts, place: Place): Promise<void> {
  const { pool, connectionString, old, later } = place;
  const environment = { DATABASE_URL: connectionString, LOG_LEVEL: "warn" };
  const start = (directory: string, file: string) =>
    startProcess(t, join(directory, file), environment);
  const servers: ReturnType<typeof start>[] = [];
  const startBoth = async (directory: string, entries: string) => {
    const [server, worker] = [
      start(directory, `${entries}/server.ts`),
      start(directory, `${entries}/worker.ts`),
    ];
    servers.push(server);
    const url = await server.listening;
    if (url === undefined) throw new Error(server.errors());
    if (!(await worker.says("working"))) throw new Error(worker.errors());
    return { server, worker, url };
  };
  const assertReady = async (url: string) => {
    const { status, body } = await callService(url, "GET", "/readyz");
    t.is(status, 200, JSON.stringify(body));
  };

  // The old version at work.
  const before = await startBoth(old.directory, "src");
  const marketId = await makeMarket(pool);
  const streams = [await watch(before.url, marketId)];
  const journal: Journal = { placings: [], cancellings: [], keyed: [], switches: [] };
  const urls = Array.from({ length: CLIENTS }, () => before.url);
  const load = startLoad({
    url: (client) => urls[client]!,
    ...{ clients: CLIENTS, pauseMs: PAUSE_MS, journal },
    ...{ marketIds: [...facts.openMarkets, facts.liveMarket], apiKeys: facts.apiKeys },
  });
  try {
    await load.nextAccepted();

    // Expand: the migrations of the new version, while the old one serves.
    const ordersBefore = journal.placings.length;
    const { code, output } = await runIn(later.directory, "src/bin/migrate.ts", [], environment);
    t.is(code, 0, output);
    for (const name of later.added) t.true(output.includes(name), output);
    t.true(journal.placings.length > ordersBefore, "orders came while it migrated");
    await load.nextAccepted();
    await assertReady(before.url);

    // Both serve, each half of the clients.
    const after = await startBoth(later.directory, "src/bin");
    urls.fill(after.url, CLIENTS / 2);
    await assertReady(before.url);
    await assertReady(after.url);
    streams.push(await watch(after.url, marketId));
    await tradeThroughBoth(t, facts, marketId, [before.url, after.url], streams);
    await load.nextAccepted();

    // The old one gets no more requests, and ends.
    urls.fill(after.url);
    before.server.kill("SIGTERM");
    before.worker.kill("SIGTERM");
    t.is(await before.server.exited, 0, before.server.errors());
    t.is(await before.worker.exited, 0, before.worker.errors());
    await load.nextAccepted();
    await load.nextAccepted();
    await assertReady(after.url);
    await load.stop();
    await assertDone(t, facts, pool, journal);

    after.server.kill("SIGTERM");
    after.worker.kill("SIGTERM");
    t.is(await after.server.exited, 0, after.server.errors());
    t.is(await after.worker.exited, 0, after.worker.errors());
    for (const { server, worker } of [before, after]) {
      t.notRegex(server.errors() + worker.errors(), /"level":"(?:error|fatal)"|"level":[56]0/);
    }
  } catch (error) {
    t.log(answersOf(journal).filter(isFault).slice(0, 3));
    for (const { errors } of servers) t.log(errors());
    throw error;
  } finally {
    for (const stream of streams) stream.close();
    await load.stop();
  }
}

async function makeMarket(pool: Pool): Promise<string> {
  const { rows } = await pool.query(
    "select admin.create_market(title => 'Both at once?', category => 'tests') as id",
  );
  return rows[0].id;
}

const watch = (url: string, marketId: string) =>
  openEvents(`${url}/api/v1/markets/${marketId}/stream`);

/** Each key is used at both servers, and each trade is seen at both. */
async function tradeThroughBoth(
  t: ExecutionContext,
  { apiKeys }: Facts,
  ...[marketId, urls, streams]: [string, string[], Awaited<ReturnType<typeof watch>>[]]
): Promise<void> {
  const [ann, bob] = [apiKeys[0]!, apiKeys[1]!];
  for (const [one, other] of [urls, urls.toReversed()] as [string, string][]) {
    const place = (url: string, key: string, order: object) =>
      callService(url, "POST", "/api/v1/orders", {
        key,
        body: { marketId, quantity: 3, ...order },
      });
    const order = { side: "yes", price: 50, idempotencyKey: randomUUID() };
    const placed = await place(one, ann, order);
    t.is(placed.status, 201, JSON.stringify(placed.body));
    const repeated = await place(other, ann, order);
    t.is(repeated.status, 200, JSON.stringify(repeated.body));
    t.is(repeated.body.order.id, placed.body.order.id);

    const taken = await place(other, bob, { side: "no", price: 50 });
    t.is(taken.body.fills.length, 1, JSON.stringify(taken.body));
    const { createdAt } = taken.body.fills[0];
    for (const stream of streams) {
      await stream.until(({ data }) =>
        data.recentTrades.some((trade: { createdAt: string }) => trade.createdAt === createdAt),
      );
    }
  }
}

const answersOf = (journal: Journal) => commandsOf(journal).flatMap(({ answers }) => answers);

/** What docs/operating.md excludes. */
const isFault = ({ kind }: Answer) => !/^(?:accepted|refused|conflict)$/.test(kind);

/** The answers match the database, and no client got an answer that the page excludes. */
async function assertDone(
  t: ExecutionContext,
  facts: Facts,
  ...[pool, journal]: [Pool, Journal]
): Promise<void> {
  const answers = answersOf(journal);
  t.true(answers.filter(({ kind }) => kind === "accepted").length > CLIENTS);
  t.deepEqual(answers.filter(isFault), []);
  const client = await pool.connect();
  try {
    t.deepEqual(await findViolations(client, journal), []);
  } finally {
    client.release();
  }
  t.is(await cashCents(pool), facts.cashCents);
}
