import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client, Pool } from "pg";
import type { Logger } from "pino";
import { singleFlight, singleFlightAfter } from "../single_flight.ts";
import { cut } from "./cut.ts";
import { abandonPool, cutConnections, makeLoneClient } from "./pools.ts";

/**
 * Hot standbys that answer reads. A read asks the primary up to where its WAL is on disk, and then a
 * standby that has replayed it up to there: so it sees everything that any process was told is
 * committed before the read began. Reads at the same moment share the question.
 */

/** What a standby is good for. */
export type StandbyStatus =
  | "in use"
  /** It did not come as far as the primary within the time that a read waits. */
  | "behind"
  /** It does not answer, or did not answer a read. */
  | "away"
  /** It was promoted, is of another cluster or database, or its last checkpoint is of another timeline. */
  | "not of this primary";

export interface StandbyFigures {
  /** Its place in READ_DATABASE_URL, from 1. */
  number: number;
  status: StandbyStatus;
  /** WAL that the primary has on disk and that it has not replayed; as of the last look. */
  behindBytes: number | undefined;
  /** Reads that it answered. */
  reads: number;
}

export interface Standby {
  pool: Pool;
  /** Counts a read that it answered. */
  count: () => void;
  /** It did not answer a read: it is left for a while. */
  fail: (error: unknown) => void;
}

export interface Standbys {
  /** How many there are. */
  count: number;
  /** One that has all that was committed when this was called. Undefined: ask the primary. */
  find: () => Promise<Standby | undefined>;
  /** Counts a read that the primary answers. */
  countPrimary: () => void;
  primaryReads: () => number;
  figures: () => StandbyFigures[];
  close: () => Promise<void>;
}

export interface StandbysOptions {
  /** Where the position is asked. */
  primary: Pool;
  /** One for each standby, in the order of READ_DATABASE_URL. They are ended with `close`. */
  pools: Pool[];
  /** A read waits for so long that a standby catches up. One that does not is left until it has. */
  longestLagMs: number;
  logger: Pick<Logger, "info" | "warn">;
}

/** A position in the WAL. Two clusters may both be on timeline 1, and have several databases. */
interface Position {
  cluster: string;
  database: string;
  timeline: number;
  bytes: number;
}

interface Replayed extends Position {
  isStandby: boolean;
}

const PAUSE_MS = 2;
/** Standbys are looked at this often, whether there are reads or not. */
const WATCH_MS = 500;
/** One that does not answer within this time is away, and the reads on it are cut. */
const ANSWER_MS = 500;
/** One that failed a read is not asked again before, and neither is one that refuses the login. */
const FAILED_MS = 10_000;
const REFUSED_MS = 30_000;
/** A primary that does not say its position within this time is asked for the read itself. */
const POSITION_MS = 2000;

const positionQuery = {
  name: "pgmarkets_wal_position",
  // The first eight digits of the name of a WAL file are its timeline.
  text: `select s.system_identifier::text as cluster, d.oid::text as database,
           ('x' || substr(pg_walfile_name(flushed), 1, 8))::bit(32)::int as timeline,
           (flushed - '0/0')::float8 as bytes
         from pg_current_wal_flush_lsn() as flushed, pg_control_system() as s, pg_database as d
         where d.datname = current_database()`,
  query_timeout: POSITION_MS,
};

const replayedQuery = {
  name: "pgmarkets_replayed",
  text: `select pg_is_in_recovery() as "isStandby", s.system_identifier::text as cluster,
           d.oid::text as database,
           greatest(c.timeline_id, r.min_recovery_end_timeline) as timeline,
           coalesce((pg_last_wal_replay_lsn() - '0/0')::float8, 0) as bytes
         from pg_control_checkpoint() as c, pg_control_recovery() as r, pg_control_system() as s,
           pg_database as d
         where d.datname = current_database()`,
  query_timeout: ANSWER_MS,
};

export function openStandbys(options: StandbysOptions): Standbys {
  const { primary, pools } = options;
  const watched = pools.map((pool, index) => watchStandby(pool, index + 1, options));
  let turn = 0;
  let primaryReads = 0;

  const readPosition = singleFlightAfter(async () => {
    const { rows } = await primary.query<Position>(positionQuery);
    return rows[0];
  });
  const askPosition = (): Promise<Position | undefined> => readPosition().catch(() => undefined);

  async function find(): Promise<Standby | undefined> {
    const inUse = watched.filter(({ isInUse }) => isInUse());
    const chosen = inUse[turn++ % Math.max(1, inUse.length)];
    if (chosen === undefined) return undefined;
    return (await chosen.look(askPosition())) ? chosen : undefined;
  }

  const watch = singleFlight(async () => {
    await Promise.all(
      watched.map(async ({ connect, look }) => {
        await connect();
        await look(askPosition());
      }),
    );
  });

  const watching = setInterval(() => void watch(), WATCH_MS);
  watching.unref();
  void watch();

  return {
    count: watched.length,
    find,
    countPrimary: () => {
      primaryReads++;
    },
    primaryReads: () => primaryReads,
    figures: () => watched.map(({ figures }) => figures()),
    close: async () => {
      clearInterval(watching);
      await Promise.all(watched.map(({ close }) => close()));
    },
  };
}

interface WatchedStandby extends Standby {
  isInUse: () => boolean;
  /** Opens the session by which it is looked at, unless there is one. */
  connect: () => Promise<void>;
  /** Notes how it stands to this position of the primary, and whether it has come to it. */
  look: (asked: Promise<Position | undefined>) => Promise<boolean>;
  figures: () => StandbyFigures;
  close: () => Promise<void>;
}

function watchStandby(
  pool: Pool,
  number: number,
  { longestLagMs, logger }: Pick<StandbysOptions, "longestLagMs" | "logger">,
): WatchedStandby {
  let status: StandbyStatus = "away";
  let behindBytes: number | undefined;
  let reads = 0;
  let client: Client | undefined;
  let notBefore = 0;
  let isClosed = false;

  function note(now: StandbyStatus, error?: unknown): void {
    if (now === status || isClosed) return;
    status = now;
    const level = now === "in use" || now === "behind" ? "info" : "warn";
    const about = { standby: number, ...(error !== undefined && { error }) };
    logger[level](about, `a standby is ${now}`);
  }

  /** What is under way there fails now, and the primary answers it. */
  function leave(error: unknown): void {
    if (client !== undefined) cut(client);
    client = undefined;
    behindBytes = undefined;
    note("away", error);
    cutConnections(pool);
  }

  async function connect(): Promise<void> {
    if (client !== undefined || performance.now() < notBefore) return;
    const made = makeLoneClient(pool, "pgmarkets standby watch");
    made.on("error", () => undefined);
    try {
      await made.connect();
      if (isClosed) cut(made);
      else client = made;
    } catch (error) {
      cut(made);
      if (!isRefusal(error)) return;
      if (notBefore === 0)
        logger.warn({ standby: number, error }, "a standby refuses the login of READ_DATABASE_URL");
      notBefore = performance.now() + REFUSED_MS;
    }
  }

  /** Undefined if it does not answer; then it is left. */
  const readReplayed = singleFlightAfter(async (): Promise<Replayed | undefined> => {
    try {
      return (await client?.query<Replayed>(replayedQuery))?.rows[0];
    } catch (error) {
      leave(error);
      return undefined;
    }
  });

  async function look(asked: Promise<Position | undefined>): Promise<boolean> {
    // Asked while the primary is: what it has replayed only grows.
    let replaying = readReplayed();
    const position = await asked;
    const lastAt = performance.now() + longestLagMs;
    for (;;) {
      const replayed = await replaying;
      if (position === undefined || replayed === undefined || client === undefined) return false;
      if (!isOf(position, replayed)) {
        behindBytes = undefined;
        note("not of this primary");
        return false;
      }
      behindBytes = Math.max(0, position.bytes - replayed.bytes);
      if (behindBytes === 0 || performance.now() >= lastAt) break;
      await delay(PAUSE_MS);
      replaying = readReplayed();
    }
    const hasCome = behindBytes === 0;
    note(hasCome ? "in use" : "behind");
    return hasCome;
  }

  return {
    pool,
    count: () => {
      reads++;
    },
    fail: (error) => {
      notBefore = performance.now() + FAILED_MS;
      leave(error);
    },
    isInUse: () => status === "in use",
    connect,
    look,
    figures: () => ({ number, status, behindBytes, reads }),
    close: async () => {
      isClosed = true;
      if (client !== undefined) cut(client);
      await abandonPool(pool);
    },
  };
}

/** Whether the server refuses the login; not if it starts, ends, or has no connection left. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^5[37]/.test(error.code ?? "");
}

/** Whether it replays what the primary of this position writes. */
function isOf(position: Position, replayed: Replayed): boolean {
  return (
    replayed.isStandby &&
    replayed.cluster === position.cluster &&
    replayed.database === position.database &&
    replayed.timeline === position.timeline
  );
}
