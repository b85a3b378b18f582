import type { EventOutcomes, OwnPosition } from "../../api/types.ts";

/** Shares of an outcome that the user holds. */
export interface HeldOutcome {
  marketId: string;
  name: string;
  quantity: number;
}

/** Of one request. */
const MOST = 10_000;

/** What of the user's shares an exclusive event exchanges. */
export interface Exchangeable {
  /** The outcomes of which the user holds NO, if all markets are open. */
  no: HeldOutcome[];
  /** Sets of one YES share of each outcome; 0 where a market is resolved. */
  yesSets: number;
}

type Held = Pick<OwnPosition, "marketId" | "side" | "quantity">;

export function exchangeableOf(
  { exclusive, outcomes }: EventOutcomes,
  positions: Held[],
): Exchangeable {
  if (!exclusive || outcomes.length === 0) return { no: [], yesSets: 0 };
  const heldOf = (marketId: string, side: "yes" | "no"): number =>
    positions.find((held) => held.marketId === marketId && held.side === side)?.quantity ?? 0;
  const isOpen = outcomes.every(({ status }) => status === "open");
  const isResolved = outcomes.some(({ status }) => status === "resolved");
  const no = outcomes.map(({ marketId, outcomeName }) => ({
    ...{ marketId, name: outcomeName },
    quantity: heldOf(marketId, "no"),
  }));
  const yes = outcomes.map(({ marketId }) => heldOf(marketId, "yes"));
  return {
    no: isOpen ? no.filter(({ quantity }) => quantity > 0) : [],
    yesSets: isResolved ? 0 : Math.min(MOST, ...yes),
  };
}

/** The most that can be converted of all these together. */
export function mostOf(held: HeldOutcome[]): number {
  return Math.min(MOST, ...held.map(({ quantity }) => quantity));
}
