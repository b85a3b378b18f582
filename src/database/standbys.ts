import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Client, Pool } from "pg";
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
  /** It has not come as far as the primary for longer than it may. */
  | "behind"
  /** It does not answer. */
  | "away"
  /** It was promoted, is of another cluster, or its last checkpoint is of another timeline. */
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
}

export interface Standbys {
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
  /** A standby that lags for longer is left until it has caught up. */
  longestLagMs: number;
}

/** A position in the WAL. Two clusters may both be on timeline 1. */
interface Position {
  cluster: string;
  timeline: number;
  bytes: number;
}

interface Replayed extends Position {
  isStandby: boolean;
}

/** A read waits for so long that a standby comes to its position. */
const WAIT_MS = 50;
const PAUSE_MS = 2;
/** Standbys are looked at this often, whether there are reads or not. */
const WATCH_MS = 500;
/** One that does not answer within this time is away, and the reads on it are cut. */
const ANSWER_MS = 500;
/** One that refuses the login is not asked again before; each attempt is a line in its log. */
const REFUSED_MS = 30_000;
/** A primary that does not say its position within this time is asked for the read itself. */
const POSITION_MS = 2000;

const positionQuery = {
  name: "pgmarkets_wal_position",
  // The first eight digits of the name of a WAL file are its timeline.
  text: `select s.system_identifier::text as cluster,
           ('x' || substr(pg_walfile_name(flushed), 1, 8))::bit(32)::int as timeline,
           (flushed - '0/0')::float8 as bytes
         from pg_current_wal_flush_lsn() as flushed, pg_control_system() as s`,
  query_timeout: POSITION_MS,
};

const replayedQuery = {
  name: "pgmarkets_replayed",
  text: `select pg_is_in_recovery() as "isStandby", s.system_identifier::text as cluster,
           greatest(c.timeline_id, r.min_recovery_end_timeline) as timeline,
           coalesce((pg_last_wal_replay_lsn() - '0/0')::float8, 0) as bytes
         from pg_control_checkpoint() as c, pg_control_recovery() as r, pg_control_system() as s`,
  query_timeout: ANSWER_MS,
};

export function openStandbys({ primary, pools, longestLagMs }: StandbysOptions): Standbys {
  const watched = pools.map((pool, index) => watchStandby(pool, index + 1, longestLagMs));
  let turn = 0;
  let primaryReads = 0;

  const readPosition = singleFlightAfter(async () => {
    const { rows } = await primary.query<Position>(positionQuery);
    return rows[0];
  });

  async function find(): Promise<Standby | undefined> {
    const inUse = watched.filter(({ isInUse }) => isInUse());
    const chosen = inUse[turn++ % Math.max(1, inUse.length)];
    if (chosen === undefined) return undefined;
    const isFit = await chosen.reaches(readPosition().catch(() => undefined));
    return isFit ? chosen : undefined;
  }

  const watch = singleFlight(async () => {
    const position = await readPosition().catch(() => undefined);
    if (position !== undefined) await Promise.all(watched.map(({ look }) => look(position)));
  });

  const watching = setInterval(() => void watch(), WATCH_MS);
  watching.unref();
  void watch();

  return {
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
  /** Whether it comes to this position soon. It is asked while the primary is. */
  reaches: (asked: Promise<Position | undefined>) => Promise<boolean>;
  /** Notes how it stands, where the primary is at this position. */
  look: (position: Position) => Promise<void>;
  figures: () => StandbyFigures;
  close: () => Promise<void>;
}

function watchStandby(pool: Pool, number: number, longestLagMs: number): WatchedStandby {
  let status: StandbyStatus = "away";
  let behindBytes: number | undefined;
  let reads = 0;
  /** The first position that it has not come to, and since when. */
  let awaited: { bytes: number; since: number } | undefined;
  let client: Client | undefined;
  let refusedUntil = 0;
  let isClosed = false;

  /** What is under way there fails now, and the primary answers it. */
  function leave(): void {
    if (client !== undefined) cut(client);
    client = undefined;
    behindBytes = undefined;
    status = "away";
    cutConnections(pool);
  }

  async function connect(): Promise<void> {
    if (performance.now() < refusedUntil) return;
    const made = makeLoneClient(pool, "pgmarkets standby watch");
    made.on("error", () => undefined);
    await made.connect().then(
      () => {
        if (isClosed) cut(made);
        else client = made;
      },
      (error: unknown) => {
        cut(made);
        if (isRefusal(error)) refusedUntil = performance.now() + REFUSED_MS;
      },
    );
  }

  /** Undefined if it does not answer; then it is left. */
  const readReplayed = singleFlightAfter(async (): Promise<Replayed | undefined> => {
    try {
      return (await client?.query<Replayed>(replayedQuery))?.rows[0];
    } catch {
      leave();
      return undefined;
    }
  });

  async function reaches(asked: Promise<Position | undefined>): Promise<boolean> {
    let replaying = readReplayed();
    const position = await asked;
    if (position === undefined) return false;
    const lastAt = performance.now() + WAIT_MS;
    for (;;) {
      const replayed = await replaying;
      if (replayed === undefined || !isOf(position, replayed)) return false;
      if (replayed.bytes >= position.bytes) return true;
      if (performance.now() >= lastAt) return false;
      await delay(PAUSE_MS);
      replaying = readReplayed();
    }
  }

  async function look(position: Position): Promise<void> {
    if (client === undefined) await connect();
    const replayed = await readReplayed();
    if (replayed === undefined) return;
    behindBytes = Math.max(0, position.bytes - replayed.bytes);
    const now = performance.now();
    if (behindBytes === 0) awaited = undefined;
    else if (awaited === undefined || replayed.bytes >= awaited.bytes) {
      awaited = { bytes: position.bytes, since: now };
    }
    if (!isOf(position, replayed)) status = "not of this primary";
    else if (awaited !== undefined && now - awaited.since > longestLagMs) status = "behind";
    // One that was behind is taken back when it has caught up.
    else if (status !== "behind" || awaited === undefined) status = "in use";
  }

  return {
    pool,
    count: () => {
      reads++;
    },
    isInUse: () => status === "in use",
    reaches,
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
function isOf(position: Position, { isStandby, cluster, timeline }: Replayed): boolean {
  return isStandby && cluster === position.cluster && timeline === position.timeline;
}
