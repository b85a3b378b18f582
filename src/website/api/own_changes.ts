import { effect, signal } from "@preact/signals";
import { openStream } from "./events.ts";
import type { Connection, Stream } from "./events.ts";
import { isSignedIn } from "./session.ts";
import { userTurn } from "./stream_turns.ts";
import type { UserEvent } from "./types.ts";

/**
 * Says when something of the user's may have changed: by the user's stream, by a command of this
 * tab or of another one, because a lost connection came back, or because some time has passed.
 * All that a page shows of the user's is then read anew together, so that it fits together.
 *
 * One tab of a browser has the user's stream, and passes on to the others that something changed,
 * and how the stream is doing.
 */

/** Rises with every change. */
export const ownVersion = signal(0);
export const userConnection = signal<Connection>("connecting");

/** What tabs say to each other: something changed, or how the stream of one of them is doing. */
type Message = "changed" | Connection;

const tabs = new BroadcastChannel("pgmarkets.own-changes");
/** One order can have several events, which come together. */
const TOGETHER_MS = 50;
/** After a read, what comes in this time is read together. */
const GATHERED_MS = 400;
/** The time doubles up to this while changes go on, as when a program trades for the user. */
const LONGEST_GATHERED_MS = 6400;
/** Deposits have no event in the stream. */
const READ_EVERY_MS = 15_000;
let gatheredMs = GATHERED_MS;
let isGathering = false;
let isMoreToRead = false;

function noteChange(): void {
  isMoreToRead = true;
  if (isGathering) return;
  isGathering = true;
  setTimeout(readGathered, TOGETHER_MS);
}

function readGathered(): void {
  isMoreToRead = false;
  ownVersion.value++;
  setTimeout(() => {
    gatheredMs = isMoreToRead ? Math.min(2 * gatheredMs, LONGEST_GATHERED_MS) : GATHERED_MS;
    isGathering = isMoreToRead;
    if (isMoreToRead) readGathered();
  }, gatheredMs);
}

/** To be called after a command of this tab. */
export function announceChange(): void {
  ownVersion.value++;
  tell("changed");
}

function tell(message: Message): void {
  tabs.postMessage(message);
}

/** Follows the user's stream while a user is signed in. */
export function followOwnChanges(): void {
  // A tab that is hidden reads everything anew when it is seen again.
  const noteIfSeen = (): void => {
    if (isSignedIn.peek() && !document.hidden) noteChange();
  };
  setInterval(noteIfSeen, READ_EVERY_MS);
  document.addEventListener("visibilitychange", noteIfSeen);
  let stream: Stream | undefined;
  tabs.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data === "changed") noteIfSeen();
    else if (stream?.connection.peek() === "waiting") userConnection.value = data;
  };
  const noteForAll = (): void => {
    noteChange();
    tell("changed");
  };
  let stopFollowing: (() => void) | undefined;
  effect(() => {
    stopFollowing?.();
    stream?.close();
    stream = undefined;
    if (!isSignedIn.value) return;
    const opened = openStream({
      path: "/api/stream/user?include=fills,settlements,markets",
      onData: (data) => {
        if ((data as UserEvent).type !== "connected") noteForAll();
      },
      onReturn: noteForAll,
      takeTurn: userTurn,
    });
    stream = opened;
    stopFollowing = effect(() => {
      const connection = opened.connection.value;
      userConnection.value = connection;
      if (connection === "waiting") return;
      tell(connection);
      // The session may have ended, which a stream cannot say: asking anew finds out.
      if (connection === "lost") queueMicrotask(noteChange);
    });
  });
}
