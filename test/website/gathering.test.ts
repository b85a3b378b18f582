import { mock } from "node:test";
import test from "ava";
import { gather } from "../../src/website/api/gathering.ts";

test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
});

test.afterEach.always(() => {
  mock.timers.reset();
});

/** Gathers, and notes when there was a round, in milliseconds from now on. */
function start() {
  const begunAt = Date.now();
  const rounds: number[] = [];
  const pace = { ms: 0 };
  const gathering = gather({
    read: () => rounds.push(Date.now() - begunAt),
    paceMs: () => pace.ms,
    now: () => Date.now(),
  });
  /** Lets time go by in small steps, so that each timer sees its own time. */
  const pass = (ms: number): void => {
    for (let gone = 0; gone < ms; gone += 10) mock.timers.tick(10);
  };
  return { ...gathering, rounds, pace, pass };
}

test.serial("a command and its events are one round", (t) => {
  const { beginCommand, noteChange, rounds, pass } = start();
  const end = beginCommand();
  pass(100);
  noteChange();
  pass(200);
  end();
  pass(100);
  noteChange();
  noteChange();
  pass(150);
  t.deepEqual(rounds, []);
  pass(10_000);
  t.deepEqual(rounds, [600], "300 ms after the answer");
});

test.serial("a change by itself waits for nothing but its other events", (t) => {
  const { noteChange, rounds, pass } = start();
  noteChange();
  noteChange();
  pass(10_000);
  t.deepEqual(rounds, [50]);
});

test.serial("no change waits longer than a second for a command without an answer", (t) => {
  const { beginCommand, noteChange, rounds, pass } = start();
  beginCommand();
  noteChange();
  pass(10_000);
  t.deepEqual(rounds, [1000]);
});

test.serial("commands in quick succession do not put a round off for more than a second", (t) => {
  const { beginCommand, rounds, pass } = start();
  for (let time = 0; time < 10; time++) {
    beginCommand()();
    pass(200);
  }
  pass(10_000);
  t.deepEqual(rounds, [1000, 2000]);
});

test.serial("while changes go on there are ever fewer rounds, but after a command", (t) => {
  const { noteChange, noteCommand, rounds, pass } = start();
  for (let time = 0; time < 400; time++) {
    noteChange();
    pass(50);
  }
  t.deepEqual(rounds, [50, 450, 1250, 2850, 6050, 12_450, 18_850]);
  noteCommand();
  pass(10);
  t.is(rounds.at(-1), 20_000, "other changes have waited long enough");
});

test.serial(
  "rounds keep to the pace, also when it gets slower meanwhile, and the last comes",
  (t) => {
    const { noteChange, noteCommand, rounds, pace, pass } = start();
    noteCommand();
    pass(1000);
    t.deepEqual(rounds, [300]);
    pace.ms = 5000;
    noteCommand();
    pass(2000);
    noteChange();
    pace.ms = 10_000;
    pass(7000);
    t.deepEqual(rounds, [300]);
    pass(60_000);
    t.deepEqual(rounds, [300, 10_300]);
  },
);

test.serial("a change after a calm does not wait as long as those before it", (t) => {
  const { noteChange, rounds, pass } = start();
  for (let time = 0; time < 10; time++) {
    noteChange();
    pass(60);
    // Its second event comes late.
    noteChange();
    pass(940);
  }
  const late = rounds.filter((at) => at % 1000 === 50);
  t.is(late.length, 10, "the first event of each is read at once");
});
