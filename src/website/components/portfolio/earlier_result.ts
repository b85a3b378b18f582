import type { SettledPosition } from "../../api/types.ts";

type Amounts = Pick<
  SettledPosition,
  "realisedCents" | "payoutCents" | "costCents" | "buyFeesCents"
>;

/**
 * The part of a position's result that came before the payout, by selling and merging: cost and fees
 * are only those of the shares that were paid out.
 */
export function earlierResultCents(position: Amounts): number {
  const { realisedCents, payoutCents, costCents, buyFeesCents } = position;
  return realisedCents - (payoutCents - costCents - buyFeesCents);
}
