import type { JSX } from "preact";
import type { OwnPosition } from "../../api/types.ts";
import { formatCents, formatCount, formatPrice, formatShares } from "../../format.ts";
import { Change } from "../change.tsx";
import { Empty } from "../states.tsx";
import { TableBox } from "../table_box.tsx";
import type { Column } from "../table_box.tsx";
import { completeSetsOf } from "./complete_sets.ts";
import { SellNow } from "./exit_value.tsx";
import { MergeHint } from "./merge_hint.tsx";

const columns: Column[] = [
  { name: "Market" },
  { name: "Side", isWide: true },
  { name: "Shares", isWide: true },
  { name: "Paid", isWide: true },
  { name: "Last", isWide: true },
  { name: "Cost", isWide: true },
  { name: "Fees", isWide: true },
  { name: "Value" },
  { name: "Unrealised" },
];

/** The shares that the user holds. */
export function Positions({ positions }: { positions: OwnPosition[] }): JSX.Element {
  return (
    <section class="panel" aria-labelledby="positions-title">
      <h2 id="positions-title">Positions</h2>
      {completeSetsOf(positions).map((sets) => (
        <MergeHint key={sets.marketId} sets={sets} />
      ))}
      {positions.length === 0 ? (
        <Empty title="You hold no shares">
          <a href="/">Find a market</a>
        </Empty>
      ) : (
        <TableBox label="Table of positions" columns={columns}>
          {positions.map((position) => (
            <PositionRow key={position.id} position={position} />
          ))}
        </TableBox>
      )}
    </section>
  );
}

function PositionRow({ position }: { position: OwnPosition }): JSX.Element {
  const { marketId, marketTitle, marketStatus, side, quantity, lastPrice } = position;
  const { costCents, buyFeesCents, worthCents, unrealisedCents, realisedCents } = position;
  return (
    <tr>
      <th scope="row">
        <a href={`/markets/${marketId}`}>{marketTitle}</a>
        {marketStatus !== "open" && <span class="hint"> {marketStatus}</span>}
        <span class="narrow-only hint">
          <span class={`tone-${side}`}>{side.toUpperCase()}</span> · {formatShares(quantity)} · cost{" "}
          {formatCents(costCents)} and fees of {formatCents(buyFeesCents)}
          <span class="second-line">
            <SellNow position={position} />
          </span>
        </span>
      </th>
      <td class={`wide-only tone-${side}`}>{side.toUpperCase()}</td>
      <td class="wide-only">{formatCount(quantity)}</td>
      <td class="wide-only">{formatPrice(costCents / quantity)}</td>
      <td class="wide-only">{formatPrice(lastPrice)}</td>
      <td class="wide-only">{formatCents(costCents)}</td>
      <td class="wide-only">{formatCents(buyFeesCents)}</td>
      <td>
        {formatCents(worthCents)}
        {lastPrice === null && <span class="second-line hint">at cost</span>}
        <span class="second-line hint wide-only">
          <SellNow position={position} />
        </span>
      </td>
      <td>
        <Change cents={unrealisedCents} />
        {realisedCents !== 0 && (
          <p class="hint">
            <Change cents={realisedCents} /> realised
          </p>
        )}
      </td>
    </tr>
  );
}
