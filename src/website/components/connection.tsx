import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../api/events.ts";
import { READ_WAITING_EVERY_MS } from "../api/market_stream.ts";
import { MOST_MARKET_STREAMS } from "../api/stream_turns.ts";

/** A lost connection that comes back at once is not worth a word. */
const PATIENCE_MS = 1500;

interface ConnectionProps {
  connections: Connection[];
}

/** Says that the page may be out of date, for as long as it is. */
export function ConnectionNotice({ connections }: ConnectionProps): JSX.Element {
  const state = (["lost", "waiting"] as const).find((one) => connections.includes(one));
  const [shown, setShown] = useState<typeof state>();
  useEffect(() => {
    if (state === undefined) {
      setShown(undefined);
      return undefined;
    }
    const timer = setTimeout(() => {
      setShown(state);
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [state]);
  return (
    <div role="status" class="connection">
      {shown !== undefined && <p class="connection-text">{words[shown]}</p>}
    </div>
  );
}

const words = {
  lost: "Connection lost. What you see may be out of date; we are trying to connect again.",
  waiting:
    `Not live: ${MOST_MARKET_STREAMS} other windows of this browser show live markets, and more ` +
    `would block each other. Prices here are read every ${READ_WAITING_EVERY_MS / 1000} seconds. ` +
    "This page becomes live by itself when one of the others is closed or hidden.",
};
