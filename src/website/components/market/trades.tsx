import type { JSX } from "preact";
import type { Snapshot } from "../../api/types.ts";
import { formatCount, formatPrice, formatTradeTime, zoneNames } from "../../format.ts";
import { Empty } from "../states.tsx";

/** The latest trades, the newest first. */
export function Trades({ trades }: { trades: Snapshot["recentTrades"] }): JSX.Element {
  const [newest] = trades;
  if (newest === undefined) return <Empty title="No trades yet" />;
  const oldest = trades.at(-1) ?? newest;
  const zones = zoneNames([oldest, newest].map(({ createdAt }) => new Date(createdAt)));
  return (
    <div class="scroll-box" tabIndex={0} role="region" aria-label="Trades, the newest first">
      <table class="trades">
        <thead>
          <tr>
            <th scope="col">Bought</th>
            <th scope="col">Shares</th>
            <th scope="col">By</th>
            <th scope="col">Time, {zones}</th>
          </tr>
        </thead>
        <tbody>
          {trades.map((trade, index) => (
            <tr key={`${trade.createdAt}-${trades.length - index}`}>
              <td class={trade.side === null ? "" : `tone-${trade.side}`}>
                {trade.side === "no"
                  ? `NO ${formatPrice(100 - trade.price)}`
                  : `YES ${formatPrice(trade.price)}`}
              </td>
              <td>{formatCount(trade.quantity)}</td>
              <td class="trader">{trade.takerPrivate ? "Private" : (trade.takerName ?? "–")}</td>
              <td>
                <time dateTime={trade.createdAt}>{formatTradeTime(trade.createdAt)}</time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
