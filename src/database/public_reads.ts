import { setTimeout as delay } from "node:timers/promises";
import { call } from "./call.ts";
import type { DatabaseFunction, Fields } from "./call.ts";
import { api } from "./calls.ts";
import type { ApiCalls } from "./calls.ts";
import { DatabaseFailure, withRetries } from "./failures.ts";
import type { Standbys } from "./standbys.ts";

/** The functions that read what everybody may see, and write nothing: standbys can run them. */
export const publicReadNames = [
  "getBalanceProof",
  "getChance",
  "getEvent",
  "getExchange",
  "getHistoryHead",
  "getLeaderboard",
  "getLeaderboardSummary",
  "getMarket",
  "getMarketResolution",
  "getMarketRules",
  "getMarketSnapshot",
  "getOrderBook",
  "followMarket",
  "listCandles",
  "listCategories",
  "listCategoryMarkets",
  "listEventHeadings",
  "listEvents",
  "listMarkets",
  "listOutcomes",
  "listSparklines",
  "listTrades",
  "searchEvents",
] as const;

export type PublicReads = Pick<ApiCalls, (typeof publicReadNames)[number]>;

/** A standby that has not answered a read after this time is left, and the primary answers. */
const STANDBY_READ_MS = 2000;
/** How many markets' versions are remembered. */
const MOST_MARKETS = 10_000;
/** The primary shows a commit this much later than a standby, unless synchronous standbys are away. */
const CATCH_UP_MS = 500;
const PAUSE_MS = 5;

/**
 * The public reads on standbys, and on the primary where none is fit or one fails: a client sees no
 * error of a standby.
 */
export function makePublicReads(primary: ApiCalls, standbys: Standbys): PublicReads {
  const shown = createShownVersions();
  const entries = publicReadNames.map((name) => {
    const called = api[name] as unknown as DatabaseFunction<Fields, unknown>;
    const onStandby = { ...called, timeoutMs: STANDBY_READ_MS };
    const onPrimary = primary[name] as (given: object) => Promise<unknown>;
    const read = async (given: object = {}): Promise<unknown> => {
      const standby = await standbys.find();
      if (standby !== undefined) {
        try {
          const once = { attempts: 1 };
          const result = await withRetries(standby.pool, (on) => call(on, onStandby, given), once);
          standby.count();
          shown.note(given, result);
          return result;
        } catch (error) {
          // The primary answers, or says what is wrong with the call.
          if (error instanceof DatabaseFailure && error.kind !== "conflict") standby.fail(error);
        }
      }
      standbys.countPrimary();
      return await shown.atLeast(given, () => onPrimary(given));
    };
    return [name, read];
  });
  return Object.fromEntries(entries) as PublicReads;
}

interface ShownVersions {
  /** This answer of a standby is shown. */
  note: (given: object, answer: unknown) => void;
  /**
   * An answer of the primary that is not older. A standby shows a commit at once, and the primary
   * only when the synchronous standbys have confirmed it.
   */
  atLeast: (given: object, read: () => Promise<unknown>) => Promise<unknown>;
}

function createShownVersions(): ShownVersions {
  const versions = new Map<string, number>();
  return {
    note: (given, answer) => {
      const marketId = marketIdOf(given);
      const version = versionOf(answer);
      if (marketId === undefined || version === undefined) return;
      const highest = Math.max(version, versions.get(marketId) ?? 0);
      versions.delete(marketId);
      versions.set(marketId, highest);
      const [oldest] = versions.keys();
      if (oldest !== undefined && versions.size > MOST_MARKETS) versions.delete(oldest);
    },
    atLeast: async (given, read) => {
      const marketId = marketIdOf(given) ?? "";
      const least = versions.get(marketId) ?? 0;
      const lastAt = performance.now() + CATCH_UP_MS;
      for (;;) {
        const answer = await read();
        if ((versionOf(answer) ?? least) >= least) return answer;
        if (performance.now() >= lastAt) {
          // A primary that has taken over does not have it, and never will.
          if (versions.get(marketId) === least) versions.delete(marketId);
          return answer;
        }
        await delay(PAUSE_MS);
      }
    },
  };
}

function marketIdOf(given: object): string | undefined {
  return "marketId" in given && typeof given.marketId === "string" ? given.marketId : undefined;
}

function versionOf(answer: unknown): number | undefined {
  const has = typeof answer === "object" && answer !== null && "version" in answer;
  return has && typeof answer.version === "number" ? answer.version : undefined;
}
