import type { JSX } from "preact";
import type { ClosedPosition } from "../../api/types.ts";
import { Change } from "../change.tsx";

/** What shares brought that are sold, merged or converted, while their markets are not resolved. */
export function ClosedPositions({
  positions,
}: {
  positions: ClosedPosition[];
}): JSX.Element | null {
  if (positions.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="closed-title">
      <h2 id="closed-title">Sold, merged or converted</h2>
      <p class="muted">Shares that you hold no more, in markets that are not resolved yet.</p>
      <div class="table-box" tabIndex={0} role="region" aria-label="Table of what was sold">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Market</th>
              <th scope="col">Side</th>
              <th scope="col">Profit or loss</th>
            </tr>
          </thead>
          <tbody>
            {positions.map(({ id, marketId, marketTitle, marketStatus, side, realisedCents }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={`/markets/${marketId}`}>{marketTitle}</a>
                  {marketStatus !== "open" && <span class="hint"> {marketStatus}</span>}
                </th>
                <td class={`tone-${side}`}>{side.toUpperCase()}</td>
                <td>
                  <Change cents={realisedCents} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
