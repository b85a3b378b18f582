import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const TICK_MS = 100;

interface CountdownProps {
  /** What was left when the server said so. */
  releaseInMs: number;
  /** When that was, by this page's clock. */
  readAt: number;
}

/** Counts down to the release of a scheduled order, whatever this computer's clock says. */
export function Countdown({ releaseInMs, readAt }: CountdownProps): JSX.Element {
  const leftNow = (): number => Math.max(0, releaseInMs - (performance.now() - readAt));
  const [left, setLeft] = useState(leftNow);
  useEffect(() => {
    setLeft(leftNow());
    const timer = setInterval(() => {
      setLeft(leftNow());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [releaseInMs, readAt]);
  return (
    <span class="countdown" role="timer">
      {left > 0 ? `Released in ${(left / 1000).toFixed(1)} s` : "Being released…"}
    </span>
  );
}
