import { useEffect, useRef } from "preact/hooks";
import type { Trading } from "../api/market_stream.ts";
import { paceMs } from "../api/quota.ts";

/** A trade changes the volume, which the stream does not say. */
const AFTER_TRADE_MS = 2000;
/** So often at most while trades go on. */
const LEAST_BETWEEN_MS = 10_000;

/** Calls a function after trades, once for those in quick succession. */
export function useAfterTrades(
  trades: Trading["recentTrades"] | undefined,
  call: () => void,
): void {
  const last = trades && (trades[0]?.createdAt ?? "none");
  const seen = useRef(last);
  const calledAt = useRef(-Infinity);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const isFirst = seen.current === undefined;
    seen.current = last;
    if (isFirst || timer.current !== undefined) return;
    const nextAt = calledAt.current + Math.max(LEAST_BETWEEN_MS, paceMs());
    const callNow = (): void => {
      timer.current = undefined;
      calledAt.current = performance.now();
      // A hidden page reads when it is seen again.
      if (!document.hidden) call();
    };
    timer.current = setTimeout(callNow, Math.max(AFTER_TRADE_MS, nextAt - performance.now()));
  }, [last]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
}
