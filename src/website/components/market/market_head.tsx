import type { JSX } from "preact";
import type { Market } from "../../api/types.ts";
import { formatChance, formatClose, formatCount, formatPrice, formatVolume } from "../../format.ts";
import { useEventTitle } from "../../hooks/use_event_title.ts";
import { LiveBadge } from "../live_badge.tsx";
import { Status } from "../status.tsx";

interface MarketHeadProps {
  market: Market;
  tradersCount: number | undefined;
}

/** What a market asks, and how likely its traders think it is. */
export function MarketHead({ market, tradersCount }: MarketHeadProps): JSX.Element {
  const { bestAsk, bestBid, closeTime, eventId, lastTradePrice, yesVolume, noVolume } = market;
  const chance = chanceOf(market);
  return (
    <header class="market-head">
      <p class="crumbs">
        <a href={`/?category=${market.category}`}>{market.category.replaceAll("-", " ")}</a>
        {eventId !== null && <EventLink id={eventId} />}
        <Status status={market.status} outcome={market.resolvedOutcome} />
        {market.status === "open" && <LiveBadge marketId={market.id} />}
      </p>
      <h1>{market.title}</h1>
      <div class="headline">
        <p class="chance" aria-live="off">
          {chance === null ? (
            <span class="muted">No price yet</span>
          ) : (
            <>
              <span class="chance-number">{formatChance(chance)}</span>
              <span class="muted">chance of YES</span>
            </>
          )}
        </p>
        <dl class="facts">
          <Fact name="Last trade" value={formatPrice(lastTradePrice)} />
          <Fact name="Bid / ask" value={`${formatPrice(bestBid)} / ${formatPrice(bestAsk)}`} />
          <Fact name="Volume" value={formatVolume(yesVolume + noVolume)} />
          {tradersCount !== undefined && <Fact name="Traders" value={formatCount(tradersCount)} />}
          {closeTime !== null && <Fact name="Closes" value={formatClose(closeTime)} />}
        </dl>
      </div>
    </header>
  );
}

function EventLink({ id }: { id: string }): JSX.Element {
  return (
    <a class="crumb-event" href={`/events/${id}`}>
      {useEventTitle(id) ?? "Event"}
    </a>
  );
}

function Fact({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The price of the last trade; before the first one, the middle of the best offers. */
function chanceOf({ lastTradePrice, bestAsk, bestBid }: Market): number | null {
  if (lastTradePrice !== null || bestAsk === null || bestBid === null) return lastTradePrice;
  return (bestAsk + bestBid) / 2;
}
