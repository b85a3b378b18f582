import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isBehind } from "../api/own_changes.ts";

/** Usually all is read before one would have read this. */
const USUAL_MS = 600;

/** Says that figures of the user's are older than what just happened, while they are for long. */
export function UpdatingNote(): JSX.Element | null {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!isBehind.value) return undefined;
    const timer = setTimeout(() => {
      setLate(true);
    }, USUAL_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isBehind.value]);
  return isLate ? (
    <p class="hint" role="status">
      Being updated: what just happened is not in these figures yet.
    </p>
  ) : null;
}
