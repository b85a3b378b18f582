/** Gathers changes into rounds of reads. */
export interface Gathering {
  /** Something changed by itself. */
  noteChange: () => void;
  /** Something changed by a command, whose events are still to come. */
  noteCommand: () => void;
  /**
   * A command is under way. Its events wait for its answer; then the returned function is to be
   * called.
   */
  beginCommand: () => () => void;
}

export interface GatheringOptions {
  /** Reads everything anew. */
  read: () => void;
  /** The least time between two rounds now. */
  paceMs: () => number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/** One change can have several events, which come together. */
const EVENTS_MS = 50;
/** The events of a command come so soon after its answer. */
const COMMAND_MS = 300;
/** No change waits longer for others. */
const LONGEST_TOGETHER_MS = 1000;
/** After a round, what comes in this time is read together. */
const GATHERED_MS = 400;
/** The time doubles up to this while changes go on, as when a program trades for the user. */
const LONGEST_GATHERED_MS = 6400;

/**
 * Gathers changes: a command and its events are one round. While changes go on there are rounds ever
 * less often, but for those of commands, and none is nearer to the one before than the pace allows.
 */
export function gather({
  read,
  paceMs,
  now = () => performance.now(),
}: GatheringOptions): Gathering {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When the first change came that is not read; undefined: there is none. */
  let firstAt: number | undefined;
  let quietAt = 0;
  let hasCommand = false;
  let commands = 0;
  let readAt = -Infinity;
  let gatheredMs = GATHERED_MS;

  function note(quietMs: number): void {
    firstAt ??= now();
    quietAt = Math.max(quietAt, now() + quietMs);
    readInTime(firstAt);
  }

  function noteCommand(): void {
    hasCommand = true;
    note(COMMAND_MS);
  }

  /** Reads now or later. What happens meanwhile may make it later still. */
  function readInTime(first: number): void {
    const longestAt = first + LONGEST_TOGETHER_MS;
    const togetherAt = commands > 0 ? longestAt : Math.min(quietAt, longestAt);
    const isBusy = goesOn(first) && !hasCommand;
    const leastMs = Math.max(isBusy ? gatheredMs : GATHERED_MS, paceMs());
    const waitMs = Math.max(togetherAt, readAt + leastMs) - now();
    clearTimeout(timer);
    if (waitMs <= 0) readNow(first);
    else timer = setTimeout(readInTime, Math.ceil(waitMs), first);
  }

  /** Whether changes go on: this one came soon after the last round. */
  function goesOn(first: number): boolean {
    return first < readAt + GATHERED_MS;
  }

  function readNow(first: number): void {
    gatheredMs = goesOn(first) ? Math.min(2 * gatheredMs, LONGEST_GATHERED_MS) : GATHERED_MS;
    readAt = now();
    firstAt = undefined;
    hasCommand = false;
    read();
  }

  return {
    noteChange: () => {
      note(EVENTS_MS);
    },
    noteCommand,
    beginCommand: () => {
      commands++;
      return () => {
        commands--;
        noteCommand();
      };
    },
  };
}
