import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

/** How a stream is doing. */
export type Connection = "connecting" | "live" | "lost";

export interface Stream {
  connection: ReadonlySignal<Connection>;
  close: () => void;
}

export interface StreamOptions {
  path: string;
  onData: (data: unknown) => void;
  /** After every opening but the first: events in between were missed. */
  onReturn?: () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The server pings every 25 seconds, but scripts do not see pings: this is for lost networks. */
const LATE_MS = 4000;

/**
 * An event stream that comes back by itself. It is closed while the page is hidden, since browsers
 * allow a site only a few connections.
 */
export function openStream({ path, onData, onReturn }: StreamOptions): Stream {
  const connection = signal<Connection>("connecting");
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let wasOpen = false;

  function connect(): void {
    clearTimeout(timer);
    source?.close();
    source = new EventSource(path);
    source.onopen = () => {
      failures = 0;
      connection.value = "live";
      if (wasOpen) onReturn?.();
      wasOpen = true;
    };
    source.onmessage = (event: MessageEvent<string>) => {
      onData(JSON.parse(event.data));
    };
    source.onerror = () => {
      source?.close();
      connection.value = "lost";
      timer = setTimeout(connect, waitAfter(failures++));
    };
  }

  function rest(): void {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }

  function onVisibility(): void {
    if (document.hidden) timer = setTimeout(rest, LATE_MS);
    else if (source === undefined || source.readyState === EventSource.CLOSED) connect();
    else clearTimeout(timer);
  }

  function onOnline(): void {
    failures = 0;
    connect();
  }

  function onOffline(): void {
    connection.value = "lost";
  }

  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", onOnline);
  addEventListener("offline", onOffline);
  connect();

  return {
    connection,
    close: () => {
      rest();
      document.removeEventListener("visibilitychange", onVisibility);
      removeEventListener("online", onOnline);
      removeEventListener("offline", onOffline);
    },
  };
}

/** Twice as long each time, and not at the same time as all the others. */
export function waitAfter(failures: number, random: () => number = Math.random): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  return longest / 2 + (random() * longest) / 2;
}
