import type { JSX } from "preact";
import { account } from "../../api/account.ts";
import type { OwnPosition } from "../../api/types.ts";
import { formatCents, formatCount } from "../../format.ts";
import { Change } from "../change.tsx";

type Exit = Pick<
  OwnPosition,
  "quantity" | "exitQuantity" | "exitCents" | "costCents" | "buyFeesCents"
>;

/**
 * What selling shares now would pay after the fee, by the book as it is, and what would be won or
 * lost by it: "Sell now for €10.30 (-€0.83)". No result where the book takes only a part, and
 * nothing for one who may not trade.
 */
export function SellNow({ position }: { position: Exit }): JSX.Element | null {
  const { quantity, exitQuantity, exitCents, costCents, buyFeesCents } = position;
  if (exitQuantity === null || exitCents === null) return null;
  if (account.value?.exclusion) return null;
  if (exitQuantity === 0) return <>Nobody buys now</>;
  if (exitQuantity < quantity) {
    const part = `${formatCount(exitQuantity)} of ${formatCount(quantity)}`;
    return (
      <>
        Sell {part} now for {formatCents(exitCents)}
      </>
    );
  }
  return (
    <>
      Sell now for {formatCents(exitCents)} (
      <Change cents={exitCents - costCents - buyFeesCents} />)
    </>
  );
}

/** What selling all shares now would pay; undefined where nothing can be sold. */
export function exitOfAll(positions: Exit[]): { cents: number; isPart: boolean } | undefined {
  const open = positions.filter(({ exitQuantity }) => (exitQuantity ?? 0) > 0);
  if (open.length === 0) return undefined;
  const cents = open.reduce((sum, { exitCents }) => sum + (exitCents ?? 0), 0);
  const isPart =
    open.length < positions.length ||
    open.some(({ quantity, exitQuantity }) => exitQuantity !== quantity);
  return { cents, isPart };
}
