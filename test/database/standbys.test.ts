import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import type { Pool } from "pg";
import { pino } from "pino";
import { openStandbys } from "../../src/database/standbys.ts";
import type { StandbyStatus } from "../../src/database/standbys.ts";
import { until } from "../helpers/until.ts";

/** Which standbys answer, by what servers say of themselves. The servers are fakes. */

/** What a server says of itself. */
interface Server {
  cluster: string;
  database: string;
  timeline: number;
  bytes: number;
  isStandby: boolean;
  /** Whether it stands still: it keeps its connections and says nothing. */
  isSilent: boolean;
  /** The SQLSTATE with which it lets no session in. */
  refusal?: string;
  /** Sessions that were asked for. */
  sessions?: number;
}

const FIRST: Server = {
  cluster: "7001",
  database: "16384",
  timeline: 1,
  bytes: 1000,
  isStandby: true,
  isSilent: false,
};
const LONGEST_LAG_MS = 50;

async function ask(server: Server, { query_timeout }: { query_timeout: number }) {
  if (server.isSilent) {
    await delay(query_timeout);
    throw new Error("Query read timeout");
  }
  return { rows: [{ ...server }] };
}

function poolOf(server: Server): Pool {
  class FakeClient {
    readonly connection = { stream: { destroy: () => undefined } };
    readonly query = (query: { query_timeout: number }) => ask(server, query);
    readonly on = () => this;
    readonly connect = () => {
      server.sessions = (server.sessions ?? 0) + 1;
      if (server.refusal === undefined) return Promise.resolve();
      const error = new pg.DatabaseError("no", 0, "error");
      error.code = server.refusal;
      return Promise.reject(error);
    };
  }
  const fake = { options: { Client: FakeClient }, _clients: [], end: () => Promise.resolve() };
  return fake as unknown as Pool;
}

/** A primary and as many standbys, all at one position. */
function openFakes(t: ExecutionContext, count: number, change: Partial<Server> = {}) {
  const primary = { ...FIRST, isStandby: false, asked: 0 };
  const servers = Array.from({ length: count }, (): Server => ({ ...FIRST, ...change }));
  const query = async (given: { query_timeout: number }) => {
    primary.asked++;
    await delay(1);
    return await ask(primary, given);
  };
  const standbys = openStandbys({
    primary: { query } as unknown as Pool,
    pools: servers.map(poolOf),
    longestLagMs: LONGEST_LAG_MS,
    logger: pino({ level: "silent" }),
  });
  t.teardown(() => standbys.close());
  const become = (...wanted: StandbyStatus[]) =>
    until(wanted.join(), () =>
      Promise.resolve(standbys.figures().every(({ status }, place) => status === wanted[place])),
    );
  return { primary, servers, standbys, become };
}

test("standbys that have the primary's position take turns", async (t) => {
  const { standbys, become } = openFakes(t, 2);
  t.is(await standbys.find(), undefined, "none was looked at yet");
  await become("in use", "in use");
  const [one, two, again] = [await standbys.find(), await standbys.find(), await standbys.find()];
  t.truthy(one);
  t.truthy(two);
  t.not(one?.pool, two?.pool);
  t.is(again?.pool, one?.pool);
});

test("reads at one moment ask the primary once, and none shares an older answer", async (t) => {
  const { primary, standbys, become } = openFakes(t, 1);
  await become("in use");
  // The look may ask as well.
  const before = primary.asked;
  await Promise.all(Array.from({ length: 50 }, () => standbys.find()));
  t.true(primary.asked - before <= 4, `asked ${primary.asked - before} times`);

  const first = standbys.find();
  primary.bytes = 2000;
  const second = standbys.find();
  await first;
  t.is(await second, undefined, "the standby has no more than 1000");
});

test("a read waits for a standby that is about to come to the position", async (t) => {
  const { primary, servers, standbys, become } = openFakes(t, 1);
  await become("in use");
  primary.bytes = 1001;
  const found = standbys.find();
  await delay(5);
  for (const server of servers) server.bytes = 1001;
  t.truthy(await found);
});

const strangers: [what: string, change: Partial<Server>][] = [
  ["was promoted", { isStandby: false, bytes: 9000 }],
  ["follows an old primary, and is ahead of the new one", { timeline: 0, bytes: 9000 }],
  ["is of another cluster, and is ahead", { cluster: "7002", bytes: 9000 }],
  ["is asked in another database", { database: "16385" }],
];
for (const [what, change] of strangers) {
  test(`a standby that ${what} is left at once, and taken back`, async (t) => {
    const { servers, standbys, become } = openFakes(t, 1);
    await become("in use");
    for (const server of servers) Object.assign(server, change);
    t.is(await standbys.find(), undefined, "before it is looked at again");
    await become("not of this primary");
    for (const server of servers) Object.assign(server, FIRST);
    await become("in use");
    t.truthy(await standbys.find());
  });
}

test("all standbys are left when connections lead to another primary", async (t) => {
  const { primary, standbys, become } = openFakes(t, 2);
  await become("in use", "in use");
  Object.assign(primary, { cluster: "7003", bytes: 10 });
  t.is(await standbys.find(), undefined);
  await become("not of this primary", "not of this primary");
});

test("a standby that lags is left until it has caught up", async (t) => {
  const { primary, servers, standbys, become } = openFakes(t, 2);
  await become("in use", "in use");
  const [, ahead] = servers;
  for (const server of [primary, ahead]) Object.assign(server ?? {}, { bytes: 5000 });
  await become("behind", "in use");
  t.is(standbys.figures()[0]?.behindBytes, 4000);
  const found = await Promise.all([standbys.find(), standbys.find()]);
  t.true(found.every((standby) => standby !== undefined));
  for (const server of servers) server.bytes = 5000;
  await become("in use", "in use");
});

test("a standby that lags as long as a read waits costs one read a wait, and no later ones", async (t) => {
  const { primary, standbys, become } = openFakes(t, 1);
  await become("in use");
  primary.bytes = 2000;
  t.is(await standbys.find(), undefined);
  t.is(standbys.figures()[0]?.status, "behind");
  const began = performance.now();
  t.is(await standbys.find(), undefined);
  t.true(performance.now() - began < LONGEST_LAG_MS);
});

test("a standby that failed a read is left, though it answers the looks", async (t) => {
  const { servers, standbys, become } = openFakes(t, 1);
  await become("in use");
  const standby = await standbys.find();
  standby?.fail(new Error("Query read timeout"));
  t.is(standbys.figures()[0]?.status, "away");
  const sessions = servers[0]?.sessions;
  // For ten seconds; two looks are enough here.
  await delay(1100);
  t.is(await standbys.find(), undefined);
  t.is(servers[0]?.sessions, sessions);
});

test("a standby that stands still costs the reads of one moment a wait, and no later ones", async (t) => {
  const { servers, standbys, become } = openFakes(t, 1);
  await become("in use");
  for (const server of servers) server.isSilent = true;
  t.is(await standbys.find(), undefined);
  t.is(standbys.figures()[0]?.status, "away");
  for (const server of servers) server.isSilent = false;
  await become("in use");
});

test("a standby that refuses the login is not asked at each look, one that starts is", async (t) => {
  const refusing = openFakes(t, 1, { refusal: "42501" });
  const starting = openFakes(t, 1, { refusal: "57P03" });
  await until("three looks", () => Promise.resolve(starting.servers[0]?.sessions === 3));
  t.is(refusing.servers[0]?.sessions, 1);
  t.is(await refusing.standbys.find(), undefined);
});

test("a read does not wait for a primary that says nothing for longer than its position", async (t) => {
  const { primary, standbys, become } = openFakes(t, 1);
  await become("in use");
  primary.isSilent = true;
  t.is(await standbys.find(), undefined);
});
