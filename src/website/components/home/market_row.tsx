import type { JSX } from "preact";
import type { Closes } from "../../api/closes.ts";
import type { ListedMarket } from "../../api/types.ts";
import { formatChance, formatClose, formatVolume } from "../../format.ts";
import { closeWord } from "../close_word.ts";
import { Status } from "../status.tsx";
import { Sparkline } from "./sparkline.tsx";

interface MarketRowProps {
  market: ListedMarket;
  closes: Closes | undefined;
}

/** A market in a list: its question, its chance, and what there is about it. */
export function MarketRow({ market, closes }: MarketRowProps): JSX.Element {
  const { id, title, status, yesVolume, noVolume, closeTime } = market;
  return (
    <li class="market-row">
      <a class="market-link" href={`/markets/${id}`}>
        <span class="market-title">{title}</span>
        <span class="market-facts">
          {status !== "open" && <Status status={status} outcome={market.resolvedOutcome} />}
          <span>{formatVolume(yesVolume + noVolume)} volume</span>
          {closeTime !== null && status !== "resolved" && (
            <span>
              {closeWord(market, closeTime).toLowerCase()} {formatClose(closeTime)}
            </span>
          )}
        </span>
      </a>
      <Sparkline closes={closes} />
      {status === "resolved" ? <RowOutcome market={market} /> : <RowChance market={market} />}
    </li>
  );
}

function RowChance({ market: { lastTradePrice } }: { market: ListedMarket }): JSX.Element {
  if (lastTradePrice === null) return <span class="row-chance hint">no trade yet</span>;
  return (
    <span class="row-chance">
      <span class="row-chance-number">{formatChance(lastTradePrice)}</span>
      <span class="chance-bar" aria-hidden="true">
        <span style={{ inlineSize: `${lastTradePrice}%` }} />
      </span>
      <span class="unseen">chance, by the last trade</span>
    </span>
  );
}

/** A resolved market has no chance any more. */
function RowOutcome({ market: { resolvedOutcome } }: { market: ListedMarket }): JSX.Element {
  const isWhole = resolvedOutcome === "yes" || resolvedOutcome === "no";
  return (
    <span class="row-chance">
      <span class={`row-chance-number ${isWhole ? `tone-${resolvedOutcome}` : ""}`}>
        {isWhole ? resolvedOutcome.toUpperCase() : "–"}
      </span>
      <span class="unseen">{isWhole ? "was the outcome" : "neither YES nor NO"}</span>
    </span>
  );
}
