import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { keepOpen } from "./keep_open.ts";

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

/** An event stream that comes back by itself. It is closed while the page is hidden. */
export function openStream({ path, onData, onReturn }: StreamOptions): Stream {
  const connection = signal<Connection>("connecting");
  let wasOpen = false;

  const kept = keepOpen(({ opened, lost }) => {
    const source = new EventSource(path);
    source.onopen = () => {
      opened();
      connection.value = "live";
      if (wasOpen) onReturn?.();
      wasOpen = true;
    };
    source.onmessage = (event: MessageEvent<string>) => {
      onData(JSON.parse(event.data));
    };
    source.onerror = () => {
      connection.value = "lost";
      lost();
    };
    return source;
  });

  function onVisibility(): void {
    if (document.hidden) kept.hide();
    else kept.show();
  }

  function onOffline(): void {
    connection.value = "lost";
  }

  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", kept.retry);
  addEventListener("offline", onOffline);

  return {
    connection,
    close: () => {
      kept.close();
      document.removeEventListener("visibilitychange", onVisibility);
      removeEventListener("online", kept.retry);
      removeEventListener("offline", onOffline);
    },
  };
}
