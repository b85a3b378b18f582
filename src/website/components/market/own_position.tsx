import type { JSX } from "preact";
import type { ClosedPosition, OwnPosition as Held, SettledPosition } from "../../api/types.ts";
import { formatCents, formatPrice, formatShares } from "../../format.ts";
import { Change } from "../change.tsx";
import { completeSetsOf } from "../portfolio/complete_sets.ts";
import { earlierResultCents } from "../portfolio/earlier_result.ts";
import { SellNow } from "../portfolio/exit_value.tsx";
import { MergeHint } from "../portfolio/merge_hint.tsx";
import { valueBasis } from "../portfolio/words.ts";

interface OwnPositionProps {
  positions: Held[];
  settled: SettledPosition[];
  closed: ClosedPosition[];
  /** Undefined where nothing can be sold. */
  onSell: ((position: Held) => void) | undefined;
}

/** What the user holds in a market, or was paid by its resolution. */
export function OwnPosition(props: OwnPositionProps): JSX.Element {
  const { positions, settled, closed, onSell } = props;
  if (positions.length + settled.length + closed.length === 0) {
    return <p class="muted">You hold no shares in this market.</p>;
  }
  return (
    <>
      <ul class="own-orders">
        {positions.map((position) => (
          <li key={position.id} class="own-order own-order-line">
            <div>
              <Name position={position} />
              <p class="hint">
                Bought at {formatPrice(position.costCents / position.quantity)}, cost{" "}
                <Cost position={position} /> · {valueBasis([position])}{" "}
                {formatCents(position.worthCents)} (<Change cents={position.unrealisedCents} />)
              </p>
              <p class="hint">
                <SellNow position={position} />
                {position.realisedCents !== 0 && (
                  <span class="second-line">
                    Sold, merged or converted before: <Change cents={position.realisedCents} />
                  </span>
                )}
              </p>
            </div>
            {onSell !== undefined && position.marketStatus === "open" && (
              <button
                type="button"
                class="button button-small"
                aria-label={`Sell your ${position.side.toUpperCase()} shares`}
                onClick={() => {
                  onSell(position);
                }}
              >
                Sell
              </button>
            )}
          </li>
        ))}
        {closed.map(({ id, side, realisedCents }) => (
          <li key={id} class="own-order">
            <p class={`own-order-name tone-${side}`}>{side.toUpperCase()}</p>
            <p class="hint">
              All sold, merged or converted: <Change cents={realisedCents} />
            </p>
          </li>
        ))}
        {settled.map((position) => (
          <li key={position.id} class="own-order">
            <Name position={position} />
            <p class="hint">
              Cost <Cost position={position} /> · paid out {formatCents(position.payoutCents)} (
              <Change cents={position.realisedCents} />
              <Earlier position={position} />)
            </p>
          </li>
        ))}
      </ul>
      {completeSetsOf(positions).map((sets) => (
        <MergeHint key={sets.marketId} sets={sets} />
      ))}
    </>
  );
}

/** What the result has besides the payout and the cost. */
function Earlier({ position }: { position: SettledPosition }): JSX.Element | null {
  const cents = earlierResultCents(position);
  if (cents === 0) return null;
  return (
    <>
      , <Change cents={cents} /> of it before the payout
    </>
  );
}

function Name({ position: { side, quantity } }: { position: Held | SettledPosition }): JSX.Element {
  return (
    <p class={`own-order-name tone-${side}`}>
      {side.toUpperCase()} · {formatShares(quantity)}
    </p>
  );
}

function Cost({ position }: { position: Held | SettledPosition }): JSX.Element {
  const { costCents, buyFeesCents } = position;
  if (buyFeesCents === 0) return <>{formatCents(costCents)}</>;
  return (
    <>
      {formatCents(costCents)} and {formatCents(buyFeesCents)} of fees
    </>
  );
}
