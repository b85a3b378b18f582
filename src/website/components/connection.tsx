import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../api/events.ts";

/** A lost connection that comes back at once is not worth a word. */
const PATIENCE_MS = 1500;

interface ConnectionProps {
  connections: Connection[];
}

/** Says that the page may be out of date, for as long as it is. */
export function ConnectionNotice({ connections }: ConnectionProps): JSX.Element {
  const isLost = connections.includes("lost");
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => {
      setShown(true);
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isLost]);
  return (
    <div role="status" class="connection">
      {isShown && (
        <p class="connection-text">
          Connection lost. What you see may be out of date; we are trying to connect again.
        </p>
      )}
    </div>
  );
}
