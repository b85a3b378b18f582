import { effect, signal } from "@preact/signals";
import { openStream } from "./events.ts";
import type { Connection, Stream } from "./events.ts";
import { isSignedIn } from "./session.ts";
import type { UserEvent } from "./types.ts";

/**
 * Says when something of the user's may have changed: by the user's stream, by a command of this
 * tab or of another one, or because a lost connection came back. Pages then ask the server anew.
 */

/** Rises with every change. */
export const ownVersion = signal(0);
/** The last event of the user's stream. */
export const lastUserEvent = signal<UserEvent | undefined>(undefined);
export const userConnection = signal<Connection>("connecting");

const tabs = new BroadcastChannel("pgmarkets.own-changes");
/** Several changes at the same time are read once. */
const GATHERED_MS = 150;
let gathering: ReturnType<typeof setTimeout> | undefined;

function noteChange(): void {
  gathering ??= setTimeout(() => {
    gathering = undefined;
    ownVersion.value++;
  }, GATHERED_MS);
}

/** To be called after a command of this tab. */
export function announceChange(): void {
  ownVersion.value++;
  tabs.postMessage("changed");
}

/** Follows the user's stream for as long as somebody is signed in. */
export function followOwnChanges(): void {
  tabs.onmessage = noteChange;
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
    });
  });
}
