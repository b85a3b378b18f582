import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A process of the bench that runs a file of this folder. */
export interface Child<Told> {
  tell: (message: Told) => void;
  /** The next message of the process; an error if it ends instead. */
  next: () => Promise<unknown>;
  end: () => Promise<void>;
}

export function startChild<Told>(file: string, args: string[] = []): Child<Told> {
  const child = fork(join(import.meta.dirname, file), args);
  return {
    tell: (message) => {
      child.send(message as object);
    },
    next: async () => {
      const ending = new AbortController();
      try {
        const message = once(child, "message", { signal: ending.signal }).then(([value]) => value);
        const exit = once(child, "exit", { signal: ending.signal }).then(([code]) => {
          throw new Error(`${file} ended with ${String(code)}`);
        });
        return await Promise.race([message, exit]);
      } finally {
        ending.abort();
      }
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}
