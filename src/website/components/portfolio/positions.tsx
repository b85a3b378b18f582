import type { JSX } from "preact";
import type { Position } from "../../api/types.ts";
import { formatCents, formatChange, formatCount, formatPrice, toneOf } from "../../format.ts";
import { Empty } from "../states.tsx";
import { costOf, worthOf } from "./worth.ts";

/** The shares that the user holds. */
export function Positions({ positions }: { positions: Position[] }): JSX.Element {
  return (
    <section class="panel" aria-labelledby="positions-title">
      <h2 id="positions-title">Positions</h2>
      {positions.length === 0 ? (
        <Empty title="You hold no shares">
          <a href="/">Find a market</a>
        </Empty>
      ) : (
        <div class="table-box" tabIndex={0} role="region" aria-label="Table of positions">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Market</th>
                <th scope="col">Side</th>
                <th scope="col">Shares</th>
                <th scope="col" class="wide-only">
                  Paid
                </th>
                <th scope="col" class="wide-only">
                  Last
                </th>
                <th scope="col" class="wide-only">
                  Cost
                </th>
                <th scope="col" class="wide-only">
                  Worth
                </th>
                <th scope="col">Unrealised</th>
              </tr>
            </thead>
            <tbody>
              {positions.map((position) => (
                <PositionRow key={position.id} position={position} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function PositionRow({ position }: { position: Position }): JSX.Element {
  const { marketId, marketTitle, side, quantity, avgPrice, lastTradePrice } = position;
  const cost = costOf(position);
  const worth = worthOf(position);
  const own = lastTradePrice === null || side === "yes" ? lastTradePrice : 100 - lastTradePrice;
  return (
    <tr>
      <th scope="row">
        <a href={`/markets/${marketId}`}>{marketTitle}</a>
      </th>
      <td class={`tone-${side}`}>{side.toUpperCase()}</td>
      <td>{formatCount(quantity)}</td>
      <td class="wide-only">{formatPrice(avgPrice)}</td>
      <td class="wide-only">{formatPrice(own)}</td>
      <td class="wide-only">{formatCents(cost)}</td>
      <td class="wide-only">{worth === null ? "–" : formatCents(worth)}</td>
      <td class={toneOf((worth ?? cost) - cost)}>
        {worth === null ? "–" : formatChange(worth - cost)}
      </td>
    </tr>
  );
}
