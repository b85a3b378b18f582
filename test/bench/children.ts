import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** What a process tells next; an error if it ends instead. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ending = new AbortController();
  try {
    const message = once(child, "message", { signal: ending.signal }).then(([value]) => value);
    const exit = once(child, "exit", { signal: ending.signal }).then(([code]) => {
      throw new Error(`${child.spawnfile} ended with ${String(code)}`);
    });
    return await Promise.race([message, exit]);
  } finally {
    ending.abort();
  }
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
