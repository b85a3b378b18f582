import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Caller } from "../database/calls.ts";
import { formatFrame } from "./event_stream.ts";
import type { EventStream, EventStreams, Repeat } from "./event_stream.ts";

export interface UserStreamsOptions {
  eventStreams: EventStreams;
  /** Returns those of these API keys and sessions that have ended. */
  listEndedCredentials: (ids: string[]) => Promise<string[]>;
  logger: Logger;
  repeat: Repeat;
}

/** Streams of the events of users. */
export interface UserStreams {
  open: (caller: Caller, response: ServerResponse) => void;
  /** Sends an event to all streams of its user. */
  deliver: (userId: string, event: object) => void;
  /** Ends the streams of an API key or a session. */
  credentialEnded: (id: string) => void;
  /**
   * For when events may have been missed. Sends all clients a new greeting, after which they must
   * read their state, and ends the streams of credentials that have ended.
   */
  startOver: () => void;
  /** How many streams are open. */
  count: () => number;
}

interface UserStream {
  stream: EventStream;
  /** The API key or the session that opened it. */
  credentialId: string;
}

/** Sessions expire without an event. */
const CHECK_EVERY_MS = 60_000;

const greeting = formatFrame(JSON.stringify({ type: "connected" }));

/** Sends events to the streams of their user, as long as the credentials of these are valid. */
export function createUserStreams(options: UserStreamsOptions): UserStreams {
  const { eventStreams, listEndedCredentials, logger, repeat } = options;
  const streamsOfUsers = new Map<string, Set<UserStream>>();
  repeat(() => {
    void endInvalid(allStreams());
  }, CHECK_EVERY_MS);

  function open(caller: Caller, response: ServerResponse): void {
    const { userId } = caller;
    const credentialId = "apiKeyId" in caller ? caller.apiKeyId : caller.sessionId;
    const streams = streamsOfUsers.get(userId) ?? new Set<UserStream>();
    const stream = eventStreams.open(response, {
      onClose: () => {
        if (opened !== undefined) streams.delete(opened);
        if (streams.size === 0) streamsOfUsers.delete(userId);
      },
    });
    const opened = stream && { stream, credentialId };
    if (opened === undefined) return;
    streams.add(opened);
    streamsOfUsers.set(userId, streams);
    opened.stream.send(greeting);
    // The credential may have ended after authentication and before the stream was opened.
    void endInvalid([opened]);
  }

  function deliver(userId: string, event: object): void {
    const streams = streamsOfUsers.get(userId);
    if (streams === undefined) return;
    const frame = formatFrame(JSON.stringify(event));
    for (const { stream } of streams) stream.send(frame);
  }

  function credentialEnded(id: string): void {
    for (const { credentialId, stream } of allStreams()) if (credentialId === id) stream.end();
  }

  function startOver(): void {
    const streams = allStreams();
    for (const { stream } of streams) stream.send(greeting);
    void endInvalid(streams);
  }

  async function endInvalid(streams: UserStream[]): Promise<void> {
    if (streams.length === 0) return;
    try {
      const ids = streams.map(({ credentialId }) => credentialId);
      const ended = new Set(await listEndedCredentials(ids));
      for (const { credentialId, stream } of streams) if (ended.has(credentialId)) stream.end();
    } catch (error) {
      // Clients that come again are authenticated again.
      logger.warn({ error }, "user streams were ended: their credentials could not be checked");
      for (const { stream } of streams) stream.end();
    }
  }

  function allStreams(): UserStream[] {
    return [...streamsOfUsers.values()].flatMap((streams) => [...streams]);
  }

  return { open, deliver, credentialEnded, startOver, count: () => allStreams().length };
}
