import { useEffect, useRef } from "preact/hooks";

/** Calls a function at intervals while the page is visible, and when it becomes visible again. */
export function useEvery(milliseconds: number, call: () => void): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    const callIfSeen = (): void => {
      if (!document.hidden) latest.current();
    };
    const timer = setInterval(callIfSeen, milliseconds);
    document.addEventListener("visibilitychange", callIfSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", callIfSeen);
    };
  }, [milliseconds]);
}
