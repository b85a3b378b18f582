import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { keepOpen } from "./keep_open.ts";
import type { TakeTurn } from "./turns.ts";

/** How a stream is doing. `waiting`: other windows of this browser have all turns. */
export type Connection = "connecting" | "live" | "lost" | "waiting";

export interface Stream {
  connection: ReadonlySignal<Connection>;
  close: () => void;
}

export interface StreamOptions {
  path: string;
  onData: (data: unknown) => void;
  /** After every opening but the first, and after a wait for a turn: events were missed. */
  onReturn?: () => void;
  /** With this the stream is open only in turns of this window. */
  takeTurn?: TakeTurn | undefined;
}

/** An event stream that comes back by itself. It is closed while the page is hidden. */
export function openStream({ path, onData, onReturn, takeTurn }: StreamOptions): Stream {
  const connection = signal<Connection>("connecting");
  let hasMissed = false;
  let isWaiting = false;

  const kept = keepOpen({
    isHidden: document.hidden,
    takeTurn,
    onWait: () => {
      isWaiting = true;
      hasMissed = true;
      connection.value = "waiting";
    },
    connect: ({ opened, lost }) => {
      if (isWaiting) connection.value = "connecting";
      isWaiting = false;
      const source = new EventSource(path);
      source.onopen = () => {
        opened();
        connection.value = "live";
        if (hasMissed) onReturn?.();
        hasMissed = true;
      };
      source.onmessage = (event: MessageEvent<string>) => {
        onData(JSON.parse(event.data));
      };
      source.onerror = () => {
        connection.value = "lost";
        lost();
      };
      return source;
    },
  });

  function onVisibility(): void {
    if (document.hidden) kept.hide();
    else kept.show();
  }

  function onOnline(): void {
    if (isWaiting) connection.value = "waiting";
    else kept.retry();
  }

  function onOffline(): void {
    connection.value = "lost";
  }

  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", onOnline);
  addEventListener("offline", onOffline);

  return {
    connection,
    close: () => {
      kept.close();
      document.removeEventListener("visibilitychange", onVisibility);
      removeEventListener("online", onOnline);
      removeEventListener("offline", onOffline);
    },
  };
}
