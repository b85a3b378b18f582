import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Snapshot } from "../../api/types.ts";
import { formatCount, formatPrice } from "../../format.ts";
import { ladderOf } from "./ladder_rows.ts";
import type { LadderRow } from "./ladder_rows.ts";

/** Of each side, unless the whole book is asked for. */
const LEVELS = 8;
const ALL_LEVELS = 99;

interface LadderProps {
  orderBook: Snapshot["orderBook"];
  onPrice: (price: number) => void;
}

/** The book as a ladder: offers to sell above, offers to buy below, the best in the middle. */
export function Ladder({ orderBook, onPrice }: LadderProps): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const { asks, bids, deepest, spread } = ladderOf(orderBook, isWhole ? ALL_LEVELS : LEVELS);
  const { yesBids, noBids } = orderBook;
  const count = yesBids.length + noBids.length;
  return (
    <>
      <div
        class={isWhole ? "scroll-box" : undefined}
        tabIndex={isWhole ? 0 : undefined}
        role={isWhole ? "region" : undefined}
        aria-label={isWhole ? "The whole book" : undefined}
      >
        <table class="ladder">
          <caption class="unseen">Order book in prices of YES</caption>
          <thead>
            <tr>
              <th scope="col">YES price</th>
              <th scope="col">Shares</th>
              <th scope="col">Depth</th>
            </tr>
          </thead>
          <tbody class="asks">
            {asks.length === 0 && <NoOffers text="No offers to sell YES" />}
            {asks.toReversed().map((row) => (
              <Row key={row.price} kind="ask" deepest={deepest} row={row} onPrice={onPrice} />
            ))}
          </tbody>
          <tbody>
            <tr class="spread">
              <td colSpan={3}>{spread === null ? "No spread" : `Spread ${formatPrice(spread)}`}</td>
            </tr>
          </tbody>
          <tbody class="bids">
            {bids.map((row) => (
              <Row key={row.price} kind="bid" deepest={deepest} row={row} onPrice={onPrice} />
            ))}
            {bids.length === 0 && <NoOffers text="No offers to buy YES" />}
          </tbody>
        </table>
      </div>
      {Math.max(yesBids.length, noBids.length) > LEVELS && (
        <button
          type="button"
          class="button button-small button-quiet"
          aria-expanded={isWhole}
          onClick={() => {
            setWhole(!isWhole);
          }}
        >
          {isWhole ? "Show the best levels" : `Show all ${count} levels`}
        </button>
      )}
    </>
  );
}

function NoOffers({ text }: { text: string }): JSX.Element {
  return (
    <tr class="no-offers">
      <td colSpan={3}>{text}</td>
    </tr>
  );
}

interface RowProps {
  kind: "ask" | "bid";
  row: LadderRow;
  deepest: number;
  onPrice: (price: number) => void;
}

function Row({ kind, row, deepest, onPrice }: RowProps): JSX.Element {
  const share = deepest === 0 ? 0 : (row.depth / deepest) * 100;
  const name = kind === "ask" ? "sell" : "buy";
  return (
    <tr class={`level ${kind}`} style={{ "--depth": `${share}%` }}>
      <td>
        <button
          type="button"
          class="level-price"
          aria-label={`Use ${row.price} cents, an offer to ${name} YES`}
          onClick={() => {
            onPrice(row.price);
          }}
        >
          {formatPrice(row.price)}
        </button>
      </td>
      <td>{formatCount(row.quantity)}</td>
      <td>{formatCount(row.depth)}</td>
    </tr>
  );
}
