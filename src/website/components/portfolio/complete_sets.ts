import type { OwnPosition } from "../../api/types.ts";

/** Shares that a merge turns into cash: as many YES as NO of a market. */
export interface CompleteSets {
  marketId: string;
  marketTitle: string;
  quantity: number;
}

/** Of one request. */
const MOST = 10_000;

/** The complete sets among these shares. Those of a resolved market are paid out already. */
export function completeSetsOf(
  positions: Pick<OwnPosition, "marketId" | "marketTitle" | "marketStatus" | "side" | "quantity">[],
): CompleteSets[] {
  return positions.flatMap(({ marketId, marketTitle, marketStatus, side, quantity }) => {
    const other = positions.find((held) => held.marketId === marketId && held.side !== side);
    if (side !== "yes" || other === undefined || marketStatus === "resolved") return [];
    return [{ marketId, marketTitle, quantity: Math.min(quantity, other.quantity, MOST) }];
  });
}
