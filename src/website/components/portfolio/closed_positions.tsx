import type { JSX } from "preact";
import type { ClosedPosition } from "../../api/types.ts";
import { Change } from "../change.tsx";
import { TableBox } from "../table_box.tsx";
import type { Column } from "../table_box.tsx";

const columns: Column[] = [{ name: "Market" }, { name: "Side" }, { name: "Profit or loss" }];

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
      <TableBox label="Table of what was sold" columns={columns}>
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
      </TableBox>
    </section>
  );
}
