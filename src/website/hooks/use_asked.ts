import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { unreadable } from "../api/result.ts";
import type { Problem, Result } from "../api/result.ts";
import { useRetry } from "./use_retry.ts";

/** What a component asked the server for. Data stays while it is asked for anew. */
export interface Asked<Data> {
  data: Data | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  askAgain: () => void;
}

/**
 * Asks the server, and again whenever one of `causes` changes, and after a problem that passes. The
 * last answer counts.
 */
export function useAsked<Data>(
  ask: () => Promise<Result<Data>>,
  causes: readonly unknown[],
): Asked<Data> {
  const [state, setState] = useState<Omit<Asked<Data>, "askAgain">>({
    data: undefined,
    problem: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;

  useEffect(() => {
    let isLatest = true;
    setState((before) => ({ ...before, isLoading: true }));
    const failed: Result<Data> = { ok: false, problem: unreadable };
    const answered = latest.current().catch((error: unknown) => {
      reportError(error);
      return failed;
    });
    void answered.then((result) => {
      if (!isLatest) return;
      setState((before) =>
        result.ok
          ? { data: result.data, problem: undefined, isLoading: false }
          : { data: before.data, problem: result.problem, isLoading: false },
      );
    });
    return () => {
      isLatest = false;
    };
  }, [...causes, round]);

  const askAgain = useCallback(() => {
    setRound((before) => before + 1);
  }, []);
  useRetry(state.problem, askAgain);
  return { ...state, askAgain };
}
