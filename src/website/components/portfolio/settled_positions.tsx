import type { JSX } from "preact";
import type { SettledPosition } from "../../api/types.ts";
import { formatCents, formatCount, formatDate, formatShares } from "../../format.ts";
import { Change } from "../change.tsx";
import { TableBox } from "../table_box.tsx";
import type { Column } from "../table_box.tsx";
import { earlierResultCents } from "./earlier_result.ts";

const columns: Column[] = [
  { name: "Market" },
  { name: "Side", isWide: true },
  { name: "Shares", isWide: true },
  { name: "Resolved", isWide: true },
  { name: "Cost and fees", isWide: true },
  { name: "Payout" },
  { name: "Profit or loss" },
];

/** What became of the shares of resolved markets. Their money is in the cash. */
export function SettledPositions({
  positions,
}: {
  positions: SettledPosition[];
}): JSX.Element | null {
  if (positions.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="settled-title">
      <h2 id="settled-title">Paid out</h2>
      <TableBox label="Table of what was paid out" columns={columns}>
        {positions.map((position) => (
          <SettledRow key={position.id} position={position} />
        ))}
      </TableBox>
    </section>
  );
}

function SettledRow({ position }: { position: SettledPosition }): JSX.Element {
  const { marketId, marketTitle, side, quantity, outcome, settledAt } = position;
  const { costCents, buyFeesCents, payoutCents, realisedCents } = position;
  const earlier = earlierResultCents(position);
  const result = outcome === "custom" ? "partly" : outcome.toUpperCase();
  return (
    <tr>
      <th scope="row">
        <a href={`/markets/${marketId}`}>{marketTitle}</a>
        <span class="narrow-only hint">
          <span class={`tone-${side}`}>{side.toUpperCase()}</span> · {formatShares(quantity)} ·
          resolved {result}, {formatDate(settledAt)}
        </span>
      </th>
      <td class={`wide-only tone-${side}`}>{side.toUpperCase()}</td>
      <td class="wide-only">{formatCount(quantity)}</td>
      <td class="wide-only">
        {result}, {formatDate(settledAt)}
      </td>
      <td class="wide-only">{formatCents(costCents + buyFeesCents)}</td>
      <td>{formatCents(payoutCents)}</td>
      <td>
        <Change cents={realisedCents} />
        {earlier !== 0 && (
          <p class="hint">
            <Change cents={earlier} /> of it before the payout
          </p>
        )}
      </td>
    </tr>
  );
}
