const now = performance.now.bind(performance);
let ahead = 0;

/** Moves the clock of this process ahead, so that what it keeps for a while is out of date. */
export function passTime(ms: number): void {
  ahead += ms;
  performance.now = () => now() + ahead;
}
