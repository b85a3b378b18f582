/** Calls this at each signal that asks the process to end; the process does not end by itself. */
export function onEndingSignal(act: (signal: NodeJS.Signals) => void): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, act);
}

/** Has the process end by a signal when it has cleaned up. */
export function cleanUpOnSignal(cleanUp: () => Promise<void>): void {
  let ending: Promise<void> | undefined;
  onEndingSignal(() => {
    ending ??= cleanUp().finally(() => process.exit(130));
  });
}
