import type { JSX } from "preact";
import type { Position } from "../../api/types.ts";
import { formatChange, formatCount, formatPrice, toneOf } from "../../format.ts";

/** What became of the shares of resolved markets. Their money is in the cash. */
export function SettledPositions({ positions }: { positions: Position[] }): JSX.Element | null {
  if (positions.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="settled-title">
      <h2 id="settled-title">Paid out</h2>
      <div class="table-box" tabIndex={0} role="region" aria-label="Table of what was paid out">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Market</th>
              <th scope="col">Side</th>
              <th scope="col">Shares</th>
              <th scope="col" class="wide-only">
                Paid
              </th>
              <th scope="col">Profit or loss</th>
            </tr>
          </thead>
          <tbody>
            {positions.map(
              ({ id, marketId, marketTitle, side, quantity, avgPrice, realisedPnl }) => (
                <tr key={id}>
                  <th scope="row">
                    <a href={`/markets/${marketId}`}>{marketTitle}</a>
                  </th>
                  <td class={`tone-${side}`}>{side.toUpperCase()}</td>
                  <td>{formatCount(quantity)}</td>
                  <td class="wide-only">{formatPrice(avgPrice)}</td>
                  <td class={toneOf(realisedPnl)}>{formatChange(realisedPnl)}</td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
