import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { paceMs } from "../api/quota.ts";

/** Usually all is read before one would have read this. */
const USUAL_MS = 600;

/** Says that figures of the user's are old, while few requests are left and they stay so for long. */
export function UpdatingNote({ isOld }: { isOld: boolean }): JSX.Element {
  const isSlow = isOld && paceMs() > 0;
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isSlow) return undefined;
    const timer = setTimeout(() => {
      setLate(true);
    }, USUAL_MS);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isSlow]);
  return (
    <div role="status">
      {isLate && <p class="hint">Being updated: what just happened is not in these figures yet.</p>}
    </div>
  );
}
