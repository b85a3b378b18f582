import type { JSX } from "preact";
import { pause } from "../../api/exchange.ts";
import type { Market, MarketResolution } from "../../api/types.ts";
import {
  formatCents,
  formatChance,
  formatCount,
  formatDateTime,
  formatPrice,
  formatVolume,
} from "../../format.ts";
import { useEvents } from "../../hooks/use_event.ts";
import { CategoryLink } from "../category_link.tsx";
import { closeWord } from "../close_word.ts";
import { Fact } from "../fact.tsx";
import { LiveBadge } from "../live_badge.tsx";
import { Status } from "../status.tsx";
import { chanceOf, WIDEST_SPREAD } from "./chance.ts";
import type { ChanceKind } from "./chance.ts";
import { disputableUntil } from "./own_disputes.tsx";

interface MarketHeadProps {
  market: Market;
  resolution: MarketResolution | undefined;
  tradersCount: number | undefined;
}

/** What a market asks, and how likely its traders think it is, or how it was resolved. */
export function MarketHead({ market, resolution, tradersCount }: MarketHeadProps): JSX.Element {
  const { category, eventId, status, resolvedOutcome, title, yesVolume, noVolume } = market;
  const isResolved = status === "resolved";
  const isPaused = status === "open" && pause.value !== undefined;
  return (
    <header class="market-head">
      <p class="crumbs">
        <CategoryLink slug={category} />
        {eventId !== null && <EventLink id={eventId} />}
        <Status
          status={isPaused ? "paused" : status}
          outcome={resolvedOutcome}
          isUndone={isUndone(resolution)}
        />
        {eventId !== null && <LiveBadge markets={[market]} />}
      </p>
      <h1>{title}</h1>
      <div class="headline">
        {isResolved ? (
          <Outcome outcome={resolvedOutcome} resolution={resolution} />
        ) : (
          <Chance market={market} />
        )}
        <dl class="facts">
          {isResolved ? <PaidFacts resolution={resolution} /> : <PriceFacts market={market} />}
          <Fact name={<a href="/help#volume">Volume</a>}>{formatVolume(yesVolume + noVolume)}</Fact>
          <Fact name="Traders">{tradersCount === undefined ? "…" : formatCount(tradersCount)}</Fact>
          {!isResolved && <CloseFact market={market} />}
        </dl>
      </div>
    </header>
  );
}

/** Whether everybody got back what they had put in, as far as it is known. */
export function isUndone(resolution: MarketResolution | undefined): boolean {
  return resolution !== undefined && resolution.voidedAt !== null;
}

const kindWords: Record<ChanceKind, string> = {
  mid: `middle of bid and ask, at most ${WIDEST_SPREAD}¢ apart`,
  last: "last trade",
  held: "last trade, held between bid and ask",
  none: "",
};

function Chance({ market }: { market: Market }): JSX.Element {
  const { chance, kind } = chanceOf(market);
  return (
    <p class="chance" aria-live="off">
      {chance === null ? (
        <span class="muted">No price yet</span>
      ) : (
        <>
          <span class="chance-number">{formatChance(chance)}</span>
          <span class="muted">
            chance of YES
            <span class="chance-kind">{kindWords[kind]}</span>
          </span>
        </>
      )}
    </p>
  );
}

function PriceFacts({ market }: { market: Market }): JSX.Element {
  const { bestAsk, bestBid, lastTradePrice } = market;
  return (
    <>
      <Fact name="Last trade">{formatPrice(lastTradePrice)}</Fact>
      <Fact name="Bid / ask">{`${formatPrice(bestBid)} / ${formatPrice(bestAsk)}`}</Fact>
    </>
  );
}

function CloseFact({ market: { closeTime, status } }: { market: Market }): JSX.Element | null {
  if (closeTime === null) return null;
  return <Fact name={closeWord({ status }, closeTime)}>{formatDateTime(closeTime)}</Fact>;
}

interface OutcomeProps {
  outcome: Market["resolvedOutcome"];
  resolution: MarketResolution | undefined;
}

/** In the place of the chance, once there is none any more. */
function Outcome({ outcome, resolution }: OutcomeProps): JSX.Element {
  if (isUndone(resolution)) {
    return (
      <p class="chance">
        <span class="chance-number">Undone</span>
        <span class="muted">all traders got back what they had put in</span>
      </p>
    );
  }
  if (outcome === "yes" || outcome === "no") {
    return (
      <p class="chance">
        <span class={`chance-number tone-${outcome}`}>{outcome.toUpperCase()}</span>
        <span class="muted">is the outcome</span>
      </p>
    );
  }
  return (
    <p class="chance">
      <span class="chance-number">
        {resolution === undefined ? "…" : formatCents(resolution.yesPayoutCents)}
      </span>
      <span class="muted">paid for a YES share</span>
    </p>
  );
}

function PaidFacts({ resolution }: Pick<OutcomeProps, "resolution">): JSX.Element | null {
  if (resolution === undefined) return null;
  const { yesPayoutCents, noPayoutCents, resolvedAt, correctedAt, voidedAt } = resolution;
  const { disputeUntil } = resolution;
  const isDisputable = disputableUntil(resolution) !== undefined;
  if (voidedAt !== null) return <Fact name="Undone">{formatDateTime(voidedAt)}</Fact>;
  return (
    <>
      <Fact name="Resolved">{formatDateTime(resolvedAt)}</Fact>
      {correctedAt !== null && <Fact name="Corrected">{formatDateTime(correctedAt)}</Fact>}
      <Fact name="A YES share paid">{formatCents(yesPayoutCents)}</Fact>
      <Fact name="A NO share paid">{formatCents(noPayoutCents)}</Fact>
      {disputeUntil !== null && (
        <Fact name={isDisputable ? "Can be disputed until" : "Could be disputed until"}>
          {formatDateTime(disputeUntil)}
        </Fact>
      )}
    </>
  );
}

function EventLink({ id }: { id: string }): JSX.Element {
  return <a href={`/events/${id}`}>{useEvents([id]).get(id)?.title ?? "Event"}</a>;
}
