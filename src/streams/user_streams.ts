import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Caller, CredentialEnd } from "../database/calls.ts";
import { formatFrame, formatPosition } from "./event_stream.ts";
import type { EventStreams, Repeat } from "./event_stream.ts";
import type { NewsKind } from "./listener.ts";
import { createUserEventReader } from "./user_event_reader.ts";
import type { FollowedStream, ReadUserEvents } from "./user_event_reader.ts";

export interface UserStreamsOptions {
  eventStreams: EventStreams;
  /** Returns when these API keys and sessions end. */
  listCredentialEnds: (ids: string[]) => Promise<CredentialEnd[]>;
  /** Where a stream begins: now, or behind an id that its client has. Null: that is gone. */
  findPosition: (lastEventId: number | undefined) => Promise<number | null>;
  readEvents: ReadUserEvents;
  logger: Logger;
  repeat: Repeat;
}

/** How a stream is opened. */
export interface UserStreamOptions {
  /** From `findPosition`. */
  position: number;
  /** Whether its client has been away. */
  isReturning: boolean;
  /** What it gets besides the events of its user. */
  include: Iterable<NewsKind>;
}

/** Streams of what happens to users. */
export interface UserStreams {
  /** Where a stream begins; undefined if the events behind the client's last id are gone. */
  findPosition: (lastEventId: string | undefined) => Promise<number | undefined>;
  open: (caller: Caller, response: ServerResponse, options: UserStreamOptions) => void;
  /** There is something new for these users, or for those of them who want this kind. */
  changed: (userIds: readonly string[], kind?: NewsKind) => void;
  /** Streams that have nothing to read have everything up to here. */
  passed: (position: number) => void;
  /** There may be something new for anybody, and credentials may have ended. */
  allChanged: () => void;
  /** Ends the streams of an API key or a session. */
  credentialEnded: (id: string) => void;
  /** How many streams are open. */
  count: () => number;
  /** Ends the checks of credentials. */
  close: () => void;
}

interface UserStream extends FollowedStream {
  /** The API key or the session that opened it. */
  credentialId: string;
  /** Set when its credential expires before long. */
  expiry?: NodeJS.Timeout | undefined;
}

/** Keys and sessions expire without an event. */
const CHECK_EVERY_MS = 60_000;
/** A timer is set for what expires before the next check, also if that is late. */
const SOON_MS = 2 * CHECK_EVERY_MS;

/**
 * Each stream reads what is behind its position, whether its client was away or the event has just
 * been sent: an event has no other way to a client. So nothing is lost between two connections, and
 * nothing is sent twice. A stream lasts as long as its credential is valid.
 */
export function createUserStreams(options: UserStreamsOptions): UserStreams {
  const { eventStreams, repeat } = options;
  const streamsOfUsers = new Map<string, Set<UserStream>>();
  const reader = createUserEventReader(options);
  const endInvalid = makeCredentialCheck(options);
  const stopChecks = repeat(() => {
    void endInvalid(allStreams());
  }, CHECK_EVERY_MS);

  function open(
    caller: Caller,
    response: ServerResponse,
    { position, isReturning, include }: UserStreamOptions,
  ): void {
    const { userId } = caller;
    const credentialId = "apiKeyId" in caller ? caller.apiKeyId : caller.sessionId;
    const streams = streamsOfUsers.get(userId) ?? new Set<UserStream>();
    const stream = eventStreams.open(response, {
      onClose: () => {
        if (opened === undefined) return;
        opened.isClosed = true;
        clearTimeout(opened.expiry);
        streams.delete(opened);
        if (streams.size === 0) streamsOfUsers.delete(userId);
      },
    });
    const opened: UserStream | undefined = stream && {
      stream,
      credentialId,
      userId,
      position,
      include: new Set(include),
      isBusy: false,
      isStale: false,
      isCatchingUp: isReturning,
      isClosed: false,
    };
    if (opened === undefined) return;
    streams.add(opened);
    streamsOfUsers.set(userId, streams);
    opened.stream.send(formatFrame(JSON.stringify({ type: "connected" }), position));
    reader.markStale(opened);
    // The credential may have ended after authentication and before the stream was opened.
    void endInvalid([opened]);
  }

  function changed(userIds: readonly string[], kind?: NewsKind): void {
    for (const userId of userIds) {
      for (const stream of streamsOfUsers.get(userId) ?? []) {
        if (kind === undefined || stream.include.has(kind)) reader.markStale(stream);
      }
    }
  }

  function passed(position: number): void {
    for (const stream of allStreams()) {
      if (stream.isBusy || stream.isStale || stream.position >= position) continue;
      stream.position = position;
      stream.stream.send(formatPosition(position));
    }
  }

  function allChanged(): void {
    const streams = allStreams();
    for (const stream of streams) reader.markStale(stream);
    void endInvalid(streams);
  }

  function allStreams(): UserStream[] {
    return [...streamsOfUsers.values()].flatMap((streams) => [...streams]);
  }

  return {
    findPosition: async (lastEventId) => await findPosition(options, lastEventId),
    open,
    changed,
    passed,
    allChanged,
    credentialEnded: (id) => {
      for (const { credentialId, stream } of allStreams()) if (credentialId === id) stream.end();
    },
    count: () => allStreams().length,
    close: stopChecks,
  };
}

async function findPosition(
  options: UserStreamsOptions,
  lastEventId: string | undefined,
): Promise<number | undefined> {
  if (lastEventId === undefined) return (await options.findPosition(undefined)) ?? undefined;
  const id = /^[0-9]{1,16}$/.test(lastEventId) ? Number(lastEventId) : NaN;
  if (!Number.isSafeInteger(id)) return undefined;
  return (await options.findPosition(id)) ?? undefined;
}

type CredentialCheck = (streams: readonly UserStream[]) => Promise<void>;

/** Ends those of some streams whose API key or session has ended, and later those where it expires. */
function makeCredentialCheck({ listCredentialEnds, logger }: UserStreamsOptions): CredentialCheck {
  return async (streams) => {
    if (streams.length === 0) return;
    try {
      const found = await listCredentialEnds(streams.map(({ credentialId }) => credentialId));
      const ends = new Map(found.map(({ credentialId, endsInMs }) => [credentialId, endsInMs]));
      for (const stream of streams) endAfter(stream, ends.get(stream.credentialId) ?? Infinity);
    } catch (error) {
      // Clients that come again are authenticated again.
      logger.warn({ error }, "user streams were ended: their credentials could not be checked");
      for (const { stream } of streams) stream.end();
    }
  };
}

/** Ends a stream whose credential is valid for so long. A later check may say otherwise. */
function endAfter(opened: UserStream, ms: number): void {
  clearTimeout(opened.expiry);
  if (ms <= 0) opened.stream.end();
  if (ms <= 0 || ms > SOON_MS || opened.isClosed) return;
  opened.expiry = setTimeout(() => {
    opened.stream.end();
  }, ms).unref();
}
