import type { TakeTurn } from "./turns.ts";

/** A connection, as far as it is kept open. */
export interface Source {
  close: () => void;
}

/** What is kept open, and what may happen to the page that it is for. */
export interface KeptOpen {
  /** The page is not seen any more: after a while there is no connection. */
  hide: () => void;
  /** It is seen again. */
  show: () => void;
  /** The network is there again. */
  retry: () => void;
  close: () => void;
}

export interface KeepOpenOptions {
  connect: (on: { opened: () => void; lost: () => void }) => Source;
  /** A page that begins hidden has no connection until it is shown. */
  isHidden?: boolean;
  /** With this there is a connection only in turns of the page. */
  takeTurn?: TakeTurn | undefined;
  /** Others have all turns: there is no connection until one of them is over. */
  onWait?: () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** How long a page is hidden before its connection is closed. */
const REST_AFTER_MS = 4000;

const takeAtOnce: TakeTurn = ({ onTurn }) => {
  onTurn();
  return () => undefined;
};

/**
 * Keeps one connection open: makes a new one when it is lost, after longer and longer waits, and
 * has none while the page is hidden, since browsers allow a site only a few.
 */
export function keepOpen(options: KeepOpenOptions): KeptOpen {
  const { connect, takeTurn = takeAtOnce, onWait = () => undefined } = options;
  let source: Source | undefined;
  let reconnecting: ReturnType<typeof setTimeout> | undefined;
  let resting: ReturnType<typeof setTimeout> | undefined;
  let isHidden = options.isHidden ?? false;
  let isAsked = false;
  let hasTurn = false;
  let endTurn: (() => void) | undefined;
  let failures = 0;

  function begin(): void {
    isAsked = true;
    endTurn = takeTurn({
      onWait,
      onTurn: () => {
        hasTurn = true;
        reconnect();
      },
    });
  }

  function reconnect(): void {
    disconnect();
    source = connect({
      opened: () => {
        failures = 0;
      },
      lost: () => {
        disconnect();
        if (isHidden) rest();
        else reconnecting = setTimeout(reconnect, waitAfter(failures++));
      },
    });
  }

  function disconnect(): void {
    clearTimeout(reconnecting);
    source?.close();
    source = undefined;
  }

  /** Has no connection, makes none by itself, and leaves the turn to others. */
  function rest(): void {
    clearTimeout(resting);
    disconnect();
    endTurn?.();
    endTurn = undefined;
    isAsked = false;
    hasTurn = false;
  }

  if (!isHidden) begin();
  return {
    hide: () => {
      isHidden = true;
      clearTimeout(reconnecting);
      clearTimeout(resting);
      resting = setTimeout(rest, REST_AFTER_MS);
    },
    show: () => {
      isHidden = false;
      clearTimeout(resting);
      if (!isAsked) begin();
      else if (hasTurn && source === undefined) reconnect();
    },
    retry: () => {
      failures = 0;
      if (!isHidden && hasTurn) reconnect();
    },
    close: rest,
  };
}

/** Twice as long each time, and not at the same time as all the others. */
function waitAfter(failures: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  return longest / 2 + (Math.random() * longest) / 2;
}
