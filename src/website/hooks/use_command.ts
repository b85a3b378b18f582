import { useRef, useState } from "preact/hooks";
import type { Problem, Result } from "../api/result.ts";

/** A command that a button or a form gives. */
export interface Command {
  isBusy: boolean;
  problem: Problem | undefined;
  /** Whether the last one succeeded. */
  isDone: boolean;
  /** Gives the command, unless it is on its way already. */
  give: <Data>(send: () => Promise<Result<Data>>, onDone?: (data: Data) => void) => Promise<void>;
  reset: () => void;
}

const idle = { isBusy: false, problem: undefined, isDone: false };

export function useCommand(): Command {
  const [state, setState] = useState<Pick<Command, "isBusy" | "problem" | "isDone">>(idle);
  // The state of the last picture may be older than a second press of a button.
  const isBusy = useRef(false);
  return {
    ...state,
    give: async (send, onDone) => {
      if (isBusy.current) return;
      isBusy.current = true;
      setState({ ...idle, isBusy: true });
      const result = await send();
      isBusy.current = false;
      if (result.ok) {
        setState({ ...idle, isDone: true });
        onDone?.(result.data);
      } else {
        setState({ ...idle, problem: result.problem });
      }
    },
    reset: () => {
      setState(idle);
    },
  };
}
