import { effect, signal } from "@preact/signals";
import { openStream } from "./events.ts";
import type { Connection, Stream } from "./events.ts";
import { isSignedIn } from "./session.ts";
import type { UserEvent } from "./types.ts";

/**
 * Says when something of the user's may have changed: by the user's stream, by a command of this
 * tab or of another one, because a lost connection came back, or because some time has passed.
 * All that a page shows of the user's is then read anew together, so that it fits together.
 */

/** Rises with every change. */
export const ownVersion = signal(0);
/** The last event of the user's stream. */
export const lastUserEvent = signal<UserEvent | undefined>(undefined);
export const userConnection = signal<Connection>("connecting");

const tabs = new BroadcastChannel("pgmarkets.own-changes");
/** The first change is read at once; what comes in the time after it is read together. */
const GATHERED_MS = 400;
/** Deposits, and trades that a program of the user's makes, have no event in the stream. */
const READ_EVERY_MS = 15_000;
let isGathering = false;
let isMoreToRead = false;

function noteChange(): void {
  if (isGathering) {
    isMoreToRead = true;
    return;
  }
  ownVersion.value++;
  isGathering = true;
  setTimeout(() => {
    isGathering = false;
    if (!isMoreToRead) return;
    isMoreToRead = false;
    noteChange();
  }, GATHERED_MS);
}

/** To be called after a command of this tab. */
export function announceChange(): void {
  ownVersion.value++;
  tabs.postMessage("changed");
}

/** Follows the user's stream while a user is signed in. */
export function followOwnChanges(): void {
  tabs.onmessage = noteChange;
  const noteIfSeen = (): void => {
    if (isSignedIn.peek() && !document.hidden) noteChange();
  };
  setInterval(noteIfSeen, READ_EVERY_MS);
  document.addEventListener("visibilitychange", noteIfSeen);
  let stream: Stream | undefined;
  let stopFollowing: (() => void) | undefined;
  effect(() => {
    stopFollowing?.();
    stream?.close();
    stream = undefined;
    if (!isSignedIn.value) return;
    const opened = openStream({
      path: "/api/stream/user",
      onData: (data) => {
        const event = data as UserEvent;
        if (event.type === "connected") return;
        lastUserEvent.value = event;
        noteChange();
      },
      onReturn: noteChange,
    });
    stream = opened;
    stopFollowing = effect(() => {
      userConnection.value = opened.connection.value;
      // The session may have ended, which a stream cannot say: asking anew finds out.
      if (opened.connection.value === "lost") queueMicrotask(noteChange);
    });
  });
}
