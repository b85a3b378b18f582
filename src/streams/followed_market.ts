import type { FollowedMarket } from "../database/calls.ts";

/** What clients of a market's changes are sent: a snapshot, and then how each state differs. */

/** A level of the book: stored side, price, shares. */
type Level = [side: string, price: number, quantity: number];

/** A market as its clients have it. */
export interface MarketState {
  version: number;
  status: string;
  /** Shares by side and price. */
  levels: ReadonlyMap<string, Level>;
  lastTradeId: number;
}

/** The state that was read. */
export function stateOf({ version, status, levels, lastTradeId }: FollowedMarket): MarketState {
  const list = JSON.parse(levels) as Level[];
  return {
    version,
    status,
    lastTradeId,
    levels: new Map(list.map((level) => [`${level[0]} ${level[1]}`, level])),
  };
}

/** The frame of a whole market, if its snapshot was read. */
export function snapshotText(marketId: string, read: FollowedMarket): string | undefined {
  if (read.snapshot === null) return undefined;
  const status = JSON.stringify(read.status);
  const snapshot = `${read.snapshot.slice(0, -1)},"status":${status}}`;
  return `{"marketId":"${marketId}","version":${read.version},"snapshot":${snapshot}}`;
}

/**
 * The frame of what changed from one state to the next. Undefined if nothing did; null if it cannot
 * be told, because too many trades lie between.
 */
export function changeText(
  marketId: string,
  { before, after, read }: { before: MarketState; after: MarketState; read: FollowedMarket },
): string | undefined | null {
  if (read.trades === null) return null;
  const levels = changedLevels(before, after);
  const isSame =
    before.version === after.version &&
    before.status === after.status &&
    before.lastTradeId === after.lastTradeId;
  if (isSame && levels.length === 0) return undefined;
  return (
    `{"marketId":"${marketId}","version":${after.version},"since":${before.version},` +
    `"levels":${JSON.stringify(levels)},"trades":${read.trades},` +
    `"status":${JSON.stringify(after.status)}}`
  );
}

/** The levels with another number of shares; 0 for those that are gone. */
function changedLevels(before: MarketState, after: MarketState): Level[] {
  const changed: Level[] = [];
  for (const [key, level] of after.levels) {
    if (before.levels.get(key)?.[2] !== level[2]) changed.push(level);
  }
  for (const [key, [side, price]] of before.levels) {
    if (!after.levels.has(key)) changed.push([side, price, 0]);
  }
  return changed;
}
