import { mock } from "node:test";
import test from "ava";
import {
  RETRY_MS,
  durationWords,
  followRealityCheck,
} from "../../src/website/api/reality_check.ts";
import type { RealityCheck } from "../../src/website/api/types.ts";

test.beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
});

test.afterEach.always(() => {
  mock.timers.reset();
});

/** A server that gives these answers one after the other: milliseconds to wait, or a failure. */
function serverWith(...answers: (number | null | "failed")[]) {
  const due: RealityCheck[] = [];
  const asked = { count: 0 };
  const read = async () => {
    const dueInMs = answers[asked.count++];
    if (dueInMs === undefined) throw new Error("it was asked too often");
    if (dueInMs === "failed") return { ok: false, problem: { status: 0, error: "" } } as const;
    const check: RealityCheck = {
      ...{ everyMinutes: 15, startedAt: "2030-01-01T00:00:00.000Z", lastedMs: 0, dueInMs },
      ...{ realisedCents: 0, spentCents: 0 },
    };
    return { ok: true, data: check } as const;
  };
  return { asked, due, read, onDue: (check: RealityCheck) => void due.push(check) };
}

/** Lets what was answered arrive, and this much time pass. */
async function pass(ms: number): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  mock.timers.tick(ms);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

test.serial("it reminds when the server says that it is due, and not before", async (t) => {
  const server = serverWith(900_000, 5, 0);
  followRealityCheck({ ...server, takeTurn: undefined });
  await pass(899_999);
  t.is(server.asked.count, 1);
  // Another window went on meanwhile, or this clock is fast: the server decides.
  await pass(1);
  t.deepEqual([server.asked.count, server.due.length], [2, 0]);
  await pass(5);
  t.deepEqual([server.asked.count, server.due.length], [3, 1]);
  await pass(10_000_000);
  t.is(server.asked.count, 3, "it waits for the user");
});

test.serial("a user who has chosen never is not reminded", async (t) => {
  const server = serverWith(null);
  followRealityCheck({ ...server, takeTurn: undefined });
  await pass(10_000_000);
  t.deepEqual([server.asked.count, server.due.length], [1, 0]);
});

test.serial("a read that failed is made again", async (t) => {
  const server = serverWith("failed", 0);
  followRealityCheck({ ...server, takeTurn: undefined });
  await pass(RETRY_MS - 1);
  t.is(server.asked.count, 1);
  await pass(1);
  t.is(server.due.length, 1);
});

test.serial("what ended asks and reminds no more", async (t) => {
  const server = serverWith(1000, 0);
  const stop = followRealityCheck({ ...server, takeTurn: undefined });
  await pass(999);
  stop();
  await pass(10_000);
  t.is(server.asked.count, 1);
  const late = serverWith(0);
  followRealityCheck({ ...late, takeTurn: undefined })();
  await pass(0);
  t.is(late.due.length, 0, "an answer on its way");
});

test.serial("a window without the turn asks nothing, and gives its turn back", async (t) => {
  const server = serverWith(0);
  const turn: { begin?: () => void; ends: number } = { ends: 0 };
  const stop = followRealityCheck({
    ...server,
    takeTurn: ({ onTurn }) => {
      turn.begin = onTurn;
      return () => (turn.ends += 1);
    },
  });
  await pass(10_000_000);
  t.is(server.asked.count, 0);
  turn.begin?.();
  await pass(0);
  t.is(server.due.length, 1);
  stop();
  t.is(turn.ends, 1);
});

test.serial("a time in words", (t) => {
  const words = ([minutes, seconds = 0]: number[]) =>
    durationWords((minutes! * 60 + seconds) * 1000);
  t.deepEqual([[0], [0, 59], [1], [1, 59], [15], [59, 59], [60], [61], [125], [120]].map(words), [
    ...["less than a minute", "less than a minute", "1 minute", "1 minute", "15 minutes"],
    ...["59 minutes", "1 hour", "1 hour 1 minute", "2 hours 5 minutes", "2 hours"],
  ]);
});
