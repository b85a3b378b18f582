import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { StreamRow } from "../database/calls.ts";
import { formatFrame } from "./event_stream.ts";
import type { EventStream } from "./event_stream.ts";
import type { NewsKind } from "./listener.ts";

/** What the events of a user stream are read by. */
export interface ReadStream {
  userId: string;
  /** Everything up to here was sent. */
  position: number;
  include: ReadonlySet<NewsKind>;
}

/** What each of these streams gets behind its position, at most so much. */
export type ReadUserEvents = (streams: readonly ReadStream[], most: number) => Promise<StreamRow[]>;

/** A user stream, with the state of its reading. */
export interface FollowedStream extends ReadStream {
  stream: EventStream;
  /** Its events are being read, or it waits for its client to take what was sent. */
  isBusy: boolean;
  /** There may be something to read. */
  isStale: boolean;
  /** There may be much to read. */
  isCatchingUp: boolean;
  isClosed: boolean;
}

export interface UserEventReaderOptions {
  readEvents: ReadUserEvents;
  logger: Logger;
}

/** Reads what is behind the positions of user streams, and sends it. */
export interface UserEventReader {
  /** There may be something to read for this stream. */
  markStale: (stream: FollowedStream) => void;
}

const RETRY_MS = 250;
/** For how many users is read at once, for those that have much to read apart from the others. */
const MOST_USERS = 50;
const MOST_CATCHING_UP = 4;
/** How much is read at once for each. */
const MOST_EVENTS = 200;

/**
 * A stream whose client is slow to take its frames is read for later: little waits for it here, and
 * its events stay in the database.
 */
export function createUserEventReader(options: UserEventReaderOptions): UserEventReader {
  const { readEvents, logger } = options;
  const now = makeReadingQueue(MOST_USERS, readFor);
  const later = makeReadingQueue(MOST_CATCHING_UP, readFor);

  function markStale(stream: FollowedStream): void {
    stream.isStale = true;
    if (!stream.isBusy) (stream.isCatchingUp ? later : now).add(stream);
  }

  async function readFor(due: readonly FollowedStream[]): Promise<void> {
    const streams = due.filter(({ isClosed, isBusy }) => !isClosed && !isBusy);
    for (const stream of streams) {
      stream.isBusy = true;
      stream.isStale = false;
    }
    try {
      if (streams.length > 0) sendRows(streams, await readEvents(streams, MOST_EVENTS));
    } catch (error) {
      logger.warn({ error }, "events of users could not be read");
      await delay(RETRY_MS);
      for (const stream of streams) stream.isStale = true;
    }
    for (const stream of streams) settle(stream);
  }

  /** After a read: reads again if there is more, once the client has taken this. */
  function settle(stream: FollowedStream): void {
    if (stream.stream.isBehind()) {
      stream.stream.whenTaken(() => {
        settle(stream);
      });
      return;
    }
    stream.isBusy = false;
    if (stream.isStale && !stream.isClosed) markStale(stream);
  }

  return { markStale };
}

function sendRows(streams: readonly FollowedStream[], rows: readonly StreamRow[]): void {
  const unfinished = new Set(streams);
  for (const { stream: place, position, event } of rows) {
    const followed = streams[place - 1];
    if (followed === undefined) throw new Error("Events of a stream that was not asked for");
    const { stream } = followed;
    if (position === null) {
      // The database was restored: the client comes back and hears that its events are gone.
      unfinished.delete(followed);
      stream.end();
    } else if (!stream.isBehind()) {
      if (event === null) unfinished.delete(followed);
      else stream.send(formatFrame(JSON.stringify(JSON.parse(event)), position));
      followed.position = position;
    }
  }
  for (const stream of streams) {
    stream.isCatchingUp = unfinished.has(stream);
    if (stream.isCatchingUp) stream.isStale = true;
  }
}

interface ReadingQueue {
  add: (stream: FollowedStream) => void;
}

/**
 * Works on what was added, for so many users at once, and one call after the other. A user has one
 * stream in a call and then waits for those of the others, so that many streams of one user cost the
 * others one read more.
 */
function makeReadingQueue(
  mostUsers: number,
  work: (streams: readonly FollowedStream[]) => Promise<void>,
): ReadingQueue {
  /** By user, in the order of their turns. */
  const due = new Map<string, Set<FollowedStream>>();
  let isWorking = false;

  async function run(): Promise<void> {
    isWorking = true;
    // What comes in the same turn is worked on together.
    await Promise.resolve();
    while (due.size > 0) await work(takeTurns());
    isWorking = false;
  }

  function takeTurns(): FollowedStream[] {
    return [...due].slice(0, mostUsers).flatMap(([userId, streams]) => {
      const [stream] = streams;
      due.delete(userId);
      if (stream !== undefined) streams.delete(stream);
      if (streams.size > 0) due.set(userId, streams);
      return stream ?? [];
    });
  }

  return {
    add: (stream) => {
      const streams = due.get(stream.userId) ?? new Set();
      due.set(stream.userId, streams.add(stream));
      if (!isWorking) void run();
    },
  };
}
