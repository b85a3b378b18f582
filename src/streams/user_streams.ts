import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Caller } from "../database/calls.ts";
import { formatFrame } from "./event_stream.ts";
import type { EventStream, EventStreams, Repeat } from "./event_stream.ts";

export interface UserStreamsOptions {
  eventStreams: EventStreams;
  /** Which of these API keys and sessions have ended. */
  listEndedCredentials: (ids: string[]) => Promise<string[]>;
  logger: Logger;
  repeat: Repeat;
}

/** Streams of what happens to users, each for its user alone. */
export interface UserStreams {
  open: (caller: Caller, response: ServerResponse) => void;
  /** Sends an event of a user to all streams of theirs. */
  deliver: (userId: string, event: object) => void;
  /** An API key or a session has ended, and with it the streams that it opened. */
  credentialEnded: (id: string) => void;
  /**
   * Events may have been missed: greets all clients anew, who know by it that they have to look
   * for themselves, and ends the streams of credentials that ended meanwhile.
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

/** Sessions run out without anybody saying so. */
const CHECK_EVERY_MS = 60_000;

const greeting = formatFrame(JSON.stringify({ type: "connected" }));

/** Passes events on to the streams of their user, as long as what opened these is good. */
export function createUserStreams(options: UserStreamsOptions): UserStreams {
  const { eventStreams, listEndedCredentials, logger, repeat } = options;
  const streamsOfUsers = new Map<string, Set<UserStream>>();
  repeat(() => {
    void endUnwelcome(allStreams());
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
    // It may have ended after the request was let in and before there was a stream to end.
    void endUnwelcome([opened]);
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
    void endUnwelcome(streams);
  }

  async function endUnwelcome(streams: UserStream[]): Promise<void> {
    if (streams.length === 0) return;
    try {
      const ids = streams.map(({ credentialId }) => credentialId);
      const ended = new Set(await listEndedCredentials(ids));
      for (const { credentialId, stream } of streams) if (ended.has(credentialId)) stream.end();
    } catch (error) {
      // Who can't be proved to be welcome still has to knock again.
      logger.warn({ error }, "user streams were ended: their credentials could not be checked");
      for (const { stream } of streams) stream.end();
    }
  }

  function allStreams(): UserStream[] {
    return [...streamsOfUsers.values()].flatMap((streams) => [...streams]);
  }

  return { open, deliver, credentialEnded, startOver, count: () => allStreams().length };
}
