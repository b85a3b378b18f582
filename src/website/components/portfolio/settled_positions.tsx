import type { JSX } from "preact";
import type { SettledPosition } from "../../api/types.ts";
import { formatCents, formatCount, formatDate, formatShares } from "../../format.ts";
import { Change } from "../change.tsx";
import { earlierResultCents } from "./earlier_result.ts";

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
      <div class="table-box" tabIndex={0} role="region" aria-label="Table of what was paid out">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Market</th>
              <th scope="col" class="wide-only">
                Side
              </th>
              <th scope="col" class="wide-only">
                Shares
              </th>
              <th scope="col" class="wide-only">
                Resolved
              </th>
              <th scope="col" class="wide-only">
                Cost and fees
              </th>
              <th scope="col">Payout</th>
              <th scope="col">Profit or loss</th>
            </tr>
          </thead>
          <tbody>
            {positions.map((position) => (
              <SettledRow key={position.id} position={position} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function SettledRow({ position }: { position: SettledPosition }): JSX.Element {
  const { marketId, marketTitle, side, quantity, outcome, settledAt } = position;
  const { costCents, buyFeesCents, payoutCents, realisedCents } = position;
  const earlier = earlierResultCents(position);
  const result = outcome === "custom" ? "by share" : outcome.toUpperCase();
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
