import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionContext, TestFn } from "ava";
import type { Exchange, Outcome } from "./test_exchange.ts";
import type { Request } from "./orders.ts";
import { effort, randomFrom } from "../random.ts";

/** Calls that run at the same moment, repeated as a server would repeat them. */
export interface Contention {
  /** Repeats a call that the database took back: deadlock, conflict, lock not available. */
  insist: <T>(call: () => Promise<T>) => Promise<T>;
  placeBatch: Exchange["placeBatch"];
  place: (market: string, trader: string, request: Request) => Promise<Outcome>;
  /** Starts all calls within two milliseconds, or {@link Contention.spreadMs} apart, in a random order. */
  together: <T extends readonly (() => Promise<unknown>)[]>(
    calls: T,
  ) => Promise<{ [K in keyof T]: T[K] extends () => Promise<infer R> ? R : never }>;
  /** So close together that they meet, unless it is made more. */
  spreadMs: number;
  /** How often the database took a call back, by SQLSTATE. */
  takenBack: Map<string, number>;
}

const takenBackStates = ["40001", "40P01", "55P03"];
const MOST_ATTEMPTS = 50;
const CLOSE_MS = 2;
const FAR_MS = 64;

let contentions = 0;

export function contend({ placeBatch }: Pick<Exchange, "placeBatch">): Contention {
  const takenBack = new Map<string, number>();
  const { next, shuffled } = randomFrom(`contention ${++contentions}`);

  const insist: Contention["insist"] = async (call) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        const { code = "" } = error as { code?: string };
        if (!takenBackStates.includes(code) || attempt === MOST_ATTEMPTS) throw error;
        takenBack.set(code, (takenBack.get(code) ?? 0) + 1);
        await delay(next() * 5);
      }
    }
  };

  const contention: Contention = {
    insist,
    placeBatch: (market, batch) => insist(() => placeBatch(market, batch)),
    place: async (market, trader, request) =>
      (await insist(() => placeBatch(market, [[trader, request]])))[0]!,
    together: (async (calls: readonly (() => Promise<unknown>)[]) => {
      const startsAt = new Map<number, number>();
      let at = 0;
      for (const index of shuffled([...calls.keys()])) {
        startsAt.set(index, at + next() * CLOSE_MS);
        at += next() * (contention.spreadMs - CLOSE_MS);
      }
      return Promise.all(
        calls.map(async (call, index) => {
          await delay(startsAt.get(index));
          return insist(call);
        }),
      );
    }) as Contention["together"],
    spreadMs: CLOSE_MS,
    takenBack,
  };
  return contention;
}

/** Locks are taken in one order everywhere: a deadlock is a defect even if a retry would hide it. */
export function neverDeadlocked(t: ExecutionContext, { takenBack }: Contention): void {
  t.log(`taken back: ${JSON.stringify(Object.fromEntries(takenBack))}`);
  t.is(takenBack.get("40P01") ?? 0, 0);
}

/** What may happen at the same moment, once; says in a word which way it went. */
export type Round = (contention: Contention, t: ExecutionContext) => Promise<string>;

/** A test of many rounds, which passes only when they went each of the ways that there are. */
export type PairTest = (title: string, ways: readonly string[], round: Round) => void;

/** How many times the usual number of rounds a test goes on for a way that it has not seen. */
const MOST_PATIENCE = 15;

/** Makes `pair(title, ways, round)` for a test file: beside the file's other tests, or alone. */
export function pairsOf(
  test: TestFn,
  exchange: Pick<Exchange, "placeBatch">,
  usualRounds: number,
): PairTest & { serial: PairTest } {
  const many = (ways: readonly string[], round: Round) => async (t: ExecutionContext) => {
    t.timeout(120_000);
    const contention = contend(exchange);
    const seen = new Map(ways.map((way) => [way, 0]));
    const missing = () => ways.filter((way) => seen.get(way) === 0);
    const rounds = effort(usualRounds);
    for (let number = 0; number < MOST_PATIENCE * Math.max(rounds, usualRounds); number++) {
      if (number >= rounds && missing().length === 0) break;
      contention.spreadMs = spreadOf(number, rounds, missing().length);
      const way = await round(contention, t);
      t.true(ways.includes(way), `an unknown way: ${way}`);
      seen.set(way, (seen.get(way) ?? 0) + 1);
    }
    t.log(JSON.stringify(Object.fromEntries(seen)));
    t.deepEqual(missing(), [], "no round went this way");
    neverDeadlocked(t, contention);
  };
  return Object.assign(
    (title: string, ways: readonly string[], round: Round) => {
      test(title, many(ways, round));
    },
    {
      serial: (title: string, ways: readonly string[], round: Round) => {
        test.serial(title, many(ways, round));
      },
    },
  );
}

/**
 * At first all calls meet. In the second half of the rounds, as long as a way is missing, they are
 * drawn apart, more from round to round, until the first is done before the next begins; and then
 * from the beginning.
 */
function spreadOf(number: number, rounds: number, missingCount: number): number {
  const late = number - Math.floor(rounds / 2);
  if (missingCount === 0 || late < 0) return CLOSE_MS;
  return Math.min(FAR_MS, CLOSE_MS * 2 ** (late % 8));
}

/** The SQLSTATE that an operator's call is refused with, or null. */
export async function failure(call: Promise<unknown>): Promise<string | null> {
  return call.then(
    () => null,
    (error: unknown) => {
      const { code = "" } = error as { code?: string };
      if (!code.startsWith("EX")) throw error;
      return code;
    },
  );
}
