import type { JSX } from "preact";
import type { Position } from "../../api/types.ts";
import { formatCents, formatChange, formatPrice, formatShares } from "../../format.ts";
import { costOf, isSettled, worthOf } from "../portfolio/worth.ts";

interface OwnPositionProps {
  positions: Position[];
  onSell: (position: Position) => void;
}

/** What the user holds in a market. */
export function OwnPosition({ positions, onSell }: OwnPositionProps): JSX.Element {
  if (positions.length === 0) return <p class="muted">You hold no shares in this market.</p>;
  return (
    <ul class="own-orders">
      {positions.map((position) => (
        <li key={position.id} class="own-order own-order-line">
          <div>
            <p class={`own-order-name tone-${position.side}`}>
              {position.side.toUpperCase()} · {formatShares(position.quantity)}
            </p>
            <p class="hint">
              Bought at {formatPrice(position.avgPrice)}, cost {formatCents(costOf(position))}
              <Gain position={position} />
            </p>
          </div>
          {position.marketStatus === "open" && (
            <button
              type="button"
              class="button button-small"
              onClick={() => {
                onSell(position);
              }}
            >
              Sell
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Gain({ position }: { position: Position }): JSX.Element | null {
  if (isSettled(position)) return <> · paid out ({formatChange(position.realisedPnl)})</>;
  const worth = worthOf(position);
  if (worth === null) return null;
  return (
    <>
      {" "}
      · worth {formatCents(worth)} ({formatChange(worth - costOf(position))})
    </>
  );
}
