import { mock } from "node:test";
import test from "ava";
import { keepOpen } from "../../src/website/api/keep_open.ts";
import type { KeepOpenOptions } from "../../src/website/api/keep_open.ts";
import type { TurnEvents } from "../../src/website/api/turns.ts";

/** Longer than any wait. */
const LONG_MS = 60_000;

test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
});

test.afterEach.always(() => {
  mock.timers.reset();
});

/** A connection that is kept open, and those that were made for it. */
function keep(options: Partial<KeepOpenOptions> = {}) {
  const made: { isOpen: boolean; lost: () => void }[] = [];
  const kept = keepOpen({
    connect: ({ lost }) => {
      const source = { isOpen: true, lost, close: () => void (source.isOpen = false) };
      made.push(source);
      return source;
    },
    ...options,
  });
  return {
    ...kept,
    made: () => made.length,
    open: () => made.filter(({ isOpen }) => isOpen).length,
    /** Loses one connection after another. */
    lose: (times: number) => {
      for (let time = 0; time < times; time++) {
        if (time > 0) mock.timers.tick(LONG_MS);
        made.at(-1)?.lost();
      }
    },
  };
}

test.serial("a lost connection comes back, and is the only one", (t) => {
  const kept = keep();
  kept.lose(3);
  t.is(kept.open(), 0);
  mock.timers.tick(LONG_MS);
  t.is(kept.open(), 1);
  kept.close();
  t.is(kept.open(), 0);
});

test.serial("what was lost and hidden stays closed once it is closed", (t) => {
  const kept = keep();
  kept.lose(6);
  kept.hide();
  kept.close();
  mock.timers.tick(LONG_MS);
  t.is(kept.open(), 0);
});

test.serial("a hidden page has no connection until it is shown, wherever it was lost", (t) => {
  const ways: ((kept: ReturnType<typeof keep>) => void)[] = [
    (kept) => {
      kept.lose(1);
      kept.hide();
    },
    (kept) => {
      kept.lose(6);
      kept.hide();
    },
    (kept) => {
      kept.hide();
      kept.lose(1);
    },
    (kept) => {
      kept.hide();
      mock.timers.tick(LONG_MS);
      kept.retry();
    },
  ];
  for (const goWithout of ways) {
    const kept = keep();
    goWithout(kept);
    mock.timers.tick(LONG_MS);
    t.is(kept.open(), 0);
    kept.show();
    t.is(kept.open(), 1);
    kept.close();
  }
});

test.serial("a page that is hidden for a moment keeps its connection", (t) => {
  const kept = keep();
  kept.hide();
  mock.timers.tick(1000);
  kept.show();
  mock.timers.tick(LONG_MS);
  t.deepEqual([kept.made(), kept.open()], [1, 1]);
  kept.close();
});

test.serial("a page that begins hidden has no connection until it is shown", (t) => {
  const kept = keep({ isHidden: true });
  mock.timers.tick(LONG_MS);
  kept.retry();
  t.is(kept.made(), 0);
  kept.show();
  t.is(kept.open(), 1);
  kept.close();
});

/** A single turn, which this test gives. */
function oneTurn() {
  const asked: TurnEvents[] = [];
  let ended = 0;
  const takeTurn = (events: TurnEvents) => {
    asked.push(events);
    return () => {
      ended++;
    };
  };
  return { takeTurn, asked, ended: () => ended };
}

test.serial("without a turn there is no connection, whatever happens", (t) => {
  const { takeTurn, asked } = oneTurn();
  const kept = keep({ takeTurn });
  asked[0]!.onWait();
  kept.retry();
  kept.hide();
  kept.show();
  mock.timers.tick(LONG_MS);
  t.deepEqual([kept.made(), asked.length], [0, 1]);
  asked[0]!.onTurn();
  t.is(kept.open(), 1);
  kept.close();
});

test.serial("a turn lasts while a connection is lost, and ends when the page is hidden", (t) => {
  const { takeTurn, asked, ended } = oneTurn();
  const kept = keep({ takeTurn });
  asked[0]!.onTurn();
  kept.lose(2);
  mock.timers.tick(LONG_MS);
  t.deepEqual([kept.open(), ended()], [1, 0]);
  kept.hide();
  mock.timers.tick(LONG_MS);
  t.deepEqual([kept.open(), ended()], [0, 1]);
  kept.show();
  t.is(kept.open(), 0, "the page asks for another turn");
  asked[1]!.onTurn();
  t.is(kept.open(), 1);
  kept.hide();
  kept.lose(1);
  t.is(ended(), 2, "what is lost and hidden leaves its turn");
  kept.close();
});

test.serial("a page that waits for its turn gives up when it is hidden", (t) => {
  const { takeTurn, ended } = oneTurn();
  const kept = keep({ takeTurn });
  kept.hide();
  mock.timers.tick(LONG_MS);
  t.is(ended(), 1);
  kept.close();
});
