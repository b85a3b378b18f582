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

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** How long a page is hidden before its connection is closed. */
const REST_AFTER_MS = 4000;

/**
 * Keeps one connection open: makes a new one when it is lost, after longer and longer waits, and
 * has none while the page is hidden, since browsers allow a site only a few.
 */
export function keepOpen(
  connect: (on: { opened: () => void; lost: () => void }) => Source,
): KeptOpen {
  let source: Source | undefined;
  let reconnecting: ReturnType<typeof setTimeout> | undefined;
  let resting: ReturnType<typeof setTimeout> | undefined;
  let isHidden = false;
  let failures = 0;

  function reconnect(): void {
    rest();
    source = connect({
      opened: () => {
        failures = 0;
      },
      lost: () => {
        rest();
        if (!isHidden) reconnecting = setTimeout(reconnect, waitAfter(failures++));
      },
    });
  }

  /** Has no connection, and makes none by itself. */
  function rest(): void {
    clearTimeout(reconnecting);
    clearTimeout(resting);
    source?.close();
    source = undefined;
  }

  reconnect();
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
      if (source === undefined) reconnect();
    },
    retry: () => {
      failures = 0;
      if (!isHidden) reconnect();
    },
    close: rest,
  };
}

/** Twice as long each time, and not at the same time as all the others. */
function waitAfter(failures: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  return longest / 2 + (Math.random() * longest) / 2;
}
