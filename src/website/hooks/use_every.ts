import { useEffect, useRef } from "preact/hooks";

/** Calls a function every so often while somebody sees the page, and on coming back to it. */
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
