import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionContext, TestFn } from "ava";
import type { Exchange, Outcome } from "./exchange.ts";
import type { Request } from "./orders.ts";
import { effort } from "./random.ts";

/** Calls that run at the same moment, repeated as a server would repeat them. */
export interface Contention {
  /** Repeats a call that the database took back: deadlock, conflict, lock not available. */
  insist: <T>(call: () => Promise<T>) => Promise<T>;
  placeBatch: Exchange["placeBatch"];
  place: (market: string, trader: string, request: Request) => Promise<Outcome>;
  /** Starts all calls within the same two milliseconds, in a random order. */
  together: <T extends readonly (() => Promise<unknown>)[]>(
    calls: T,
  ) => Promise<{ [K in keyof T]: T[K] extends () => Promise<infer R> ? R : never }>;
  /** How often the database took a call back, by SQLSTATE. */
  takenBack: Map<string, number>;
}

const takenBackStates = ["40001", "40P01", "55P03"];
const MOST_ATTEMPTS = 50;

export function contend({ placeBatch }: Pick<Exchange, "placeBatch">): Contention {
  const takenBack = new Map<string, number>();

  const insist: Contention["insist"] = async (call) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        const { code = "" } = error as { code?: string };
        if (!takenBackStates.includes(code) || attempt === MOST_ATTEMPTS) throw error;
        takenBack.set(code, (takenBack.get(code) ?? 0) + 1);
        await delay(Math.random() * 5);
      }
    }
  };

  return {
    insist,
    placeBatch: (market, batch) => insist(() => placeBatch(market, batch)),
    place: async (market, trader, request) =>
      (await insist(() => placeBatch(market, [[trader, request]])))[0]!,
    together: (async (calls: readonly (() => Promise<unknown>)[]) =>
      Promise.all(
        calls.map(async (call) => {
          await delay(Math.random() * 2);
          return insist(call);
        }),
      )) as Contention["together"],
    takenBack,
  };
}

/** Locks are taken in one order everywhere: a deadlock is a defect even if a retry would hide it. */
export function neverDeadlocked(t: ExecutionContext, { takenBack }: Contention): void {
  t.log(`taken back: ${JSON.stringify(Object.fromEntries(takenBack))}`);
  t.is(takenBack.get("40P01") ?? 0, 0);
}

/** What may happen at the same moment, once; says in a word which way it went. */
export type Round = (contention: Contention, t: ExecutionContext) => Promise<string>;

/** A test of many rounds, which tells how often they went which way. */
export type PairTest = (title: string, round: Round) => void;

/** Makes `pair(title, round)` for a test file: beside the file's other tests, or alone. */
export function pairsOf(
  test: TestFn,
  exchange: Pick<Exchange, "placeBatch">,
  usualRounds: number,
): PairTest & { serial: PairTest } {
  const many = (round: Round) => async (t: ExecutionContext) => {
    const contention = contend(exchange);
    const seen = new Map<string, number>();
    for (let number = 0; number < effort(usualRounds); number++) {
      const what = await round(contention, t);
      seen.set(what, (seen.get(what) ?? 0) + 1);
    }
    t.log(JSON.stringify(Object.fromEntries(seen)));
    neverDeadlocked(t, contention);
  };
  return Object.assign(
    (title: string, round: Round) => {
      test(title, many(round));
    },
    {
      serial: (title: string, round: Round) => {
        test.serial(title, many(round));
      },
    },
  );
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
