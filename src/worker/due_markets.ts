import { setTimeout as delay } from "node:timers/promises";
import { DatabaseFailure } from "../database/failures.ts";
import type { HeldMarkets } from "./held_markets.ts";
import type { JobCalls } from "../database/job_calls.ts";
import type { JobContext } from "./job.ts";

/** How work of one kind is found and done. */
export interface DueWork {
  /** Lists the markets in groups to be done together, those that have waited longest first. */
  listDue: (calls: JobCalls, passingOver: number[]) => Promise<MarketGroup[]>;
  /** The function that does one piece in a market. */
  doInMarket: MarketPiece;
  /** Does a piece in several markets at once. Without it, groups are done market by market. */
  doInGroup?: GroupPiece;
  /** Groups at once. Each commit waits for the disk, and several commits share one flush. */
  lanes: number;
  /** Held markets whose locks are waited for at once, beside the lanes. */
  waitingLanes: number;
  /** How long to wait when nothing is due now. Undefined: the job is done. */
  waitMs?: (() => Promise<number | undefined>) | undefined;
  /** After this long another worker may continue. */
  longestMs?: number;
}

type MarketGroup = readonly number[];

/** Returns how much it did, null if the market was locked. `waits`: it is waited for. */
type MarketPiece = (
  calls: JobCalls,
  marketId: number,
  waits: boolean,
  options: { attempts?: number },
) => Promise<number | null>;

/** Returns how much it did, and which of the markets were locked. */
type GroupPiece = (
  calls: JobCalls,
  group: MarketGroup,
) => Promise<{ done: number; busy: MarketGroup }>;

/** PostgreSQL's SQLSTATEs after a lock timeout, a deadlock and a serialization failure. */
const IN_USE = new Set(["55P03", "40P01", "40001"]);
/** In a lane nothing is tried again at once: the other markets come first. */
const ONCE = { attempts: 1 };
/** How often due work is read again while locks are waited for. */
const LOOK_AGAIN_MS = 50;

/**
 * Does what is due, market by market. A locked market is passed over. A few of them are waited for
 * beside the work on the others, so that a market which is rarely free gets its turn too. Throws the
 * first fault of a market, once everything else is done.
 */
export async function doWhatIsDue(
  context: JobContext,
  held: HeldMarkets,
  work: DueWork,
): Promise<void> {
  const {
    listDue,
    doInMarket,
    doInGroup,
    lanes,
    waitingLanes,
    waitMs,
    longestMs = Infinity,
  } = work;
  const end = performance.now() + longestMs;
  const faults = new Map<number, unknown>();
  const waiting = new Set<number>();

  /** Whether the market was free. */
  async function attempt(market: number, waits: boolean): Promise<boolean> {
    try {
      const done = await context.doPiece((calls) =>
        doInMarket(calls, market, waits, waits ? {} : ONCE),
      );
      return done !== null;
    } catch (error) {
      // Another transaction holds a user or another row that it needs.
      if (error instanceof DatabaseFailure && IN_USE.has(error.sqlstate ?? "")) return false;
      faults.set(market, error);
      return true;
    }
  }

  async function waitFor(market: number): Promise<void> {
    waiting.add(market);
    if (await attempt(market, true)) held.release(market);
    else held.hold(market);
    waiting.delete(market);
  }

  function passOver(market: number): void {
    held.hold(market);
    if (waiting.size < waitingLanes) void waitFor(market);
  }

  async function doAlone(market: number): Promise<void> {
    if (await attempt(market, false)) held.release(market);
    else passOver(market);
  }

  /** Together. If that fails, each alone, so that only the one at fault is left out. */
  async function doTogether(group: MarketGroup, doPiece: GroupPiece): Promise<void> {
    let busy: MarketGroup = [];
    try {
      await context.doPiece(async (calls) => {
        const result = await doPiece(calls, group);
        busy = result.busy;
        return result.done;
      });
    } catch {
      for (const market of group) await doAlone(market);
      return;
    }
    for (const market of group) {
      if (busy.includes(market)) passOver(market);
      else held.release(market);
    }
  }

  async function doGroups(groups: MarketGroup[]): Promise<void> {
    const left = groups.values();
    const lane = async (): Promise<void> => {
      for (const group of left) {
        if (doInGroup !== undefined && group.length > 1) await doTogether(group, doInGroup);
        else for (const market of group) await doAlone(market);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  while (!context.isEnding() && performance.now() < end) {
    const passingOver = [...new Set([...held.list(), ...faults.keys(), ...waiting])];
    const due = await listDue(context.calls, passingOver);
    if (due.length > 0) {
      await doGroups(due);
      continue;
    }
    // A market at fault stays due. The job must not wait for it.
    const ms = waiting.size > 0 ? LOOK_AGAIN_MS : faults.size > 0 ? undefined : await waitMs?.();
    if (ms === undefined) break;
    await delay(ms);
  }
  while (waiting.size > 0) await delay(LOOK_AGAIN_MS);
  if (faults.size > 0) throw [...faults.values()][0];
}
