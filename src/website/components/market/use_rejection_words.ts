import { account } from "../../api/account.ts";
import { shownBook } from "../../api/market_stream.ts";
import { shownPositions } from "../../api/own_positions.ts";
import type { PlaceOrder } from "../../api/types.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { USUAL_RATE_BPS } from "../fee.ts";
import { rejectionWords } from "./rejection_words.ts";

/** Why an order was rejected, in the figures of the page; undefined where it has none. */
export function useRejectionWords(
  code: string | undefined,
  order: PlaceOrder | undefined,
  marketId: string,
): string | undefined {
  const rules = useRules(marketId);
  if (order === undefined) return undefined;
  return rejectionWords(code, order, {
    book: shownBook.value,
    feeRateBps: rules?.feeRateBps ?? USUAL_RATE_BPS,
    account: account.value,
    positions: shownPositions.value,
  });
}
