import type { JSX } from "preact";
import type { OwnPosition } from "../../api/types.ts";
import { formatCents, formatCount } from "../../format.ts";
import { Change } from "../change.tsx";

type Exit = Pick<
  OwnPosition,
  "quantity" | "exitQuantity" | "exitCents" | "costCents" | "buyFeesCents"
>;

/** What selling shares now would pay after the fee, by the book as it is. */
export function ExitValue({ position }: { position: Exit }): JSX.Element | null {
  const { quantity, exitQuantity, exitCents } = position;
  if (exitQuantity === null || exitCents === null) return null;
  if (exitQuantity === 0) return <>nobody buys now</>;
  return (
    <>
      sold now: {formatCents(exitCents)}
      {exitQuantity < quantity && ` for ${formatCount(exitQuantity)} of ${formatCount(quantity)}`}
    </>
  );
}

/** What would be won or lost by it; nothing where the book takes only a part. */
export function ExitResult({ position }: { position: Exit }): JSX.Element | null {
  const { quantity, exitQuantity, exitCents, costCents, buyFeesCents } = position;
  if (exitCents === null || exitQuantity !== quantity) return null;
  return (
    <>
      sold now: <Change cents={exitCents - costCents - buyFeesCents} />
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
