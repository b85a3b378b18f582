import type { JSX } from "preact";
import type { EventOutcome, EventOutcomes } from "../api/types.ts";
import { formatChance, formatPrice, formatVolume } from "../format.ts";
import { Status } from "./status.tsx";

/** The outcomes of an event, the most likely first, each with what YES and NO cost now. */
export function Outcomes({ outcomes: event }: { outcomes: EventOutcomes }): JSX.Element {
  const { exclusive, outcomes } = event;
  const chances = outcomes.flatMap(({ chance }) => (chance === null ? [] : [chance]));
  const volume = outcomes.reduce((sum, { volume: one }) => sum + one, 0);
  return (
    <section class="panel market-group" aria-label="Markets">
      <p class="outcome-facts">
        {exclusive && <span>Exactly one of them resolves YES.</span>}
        <span>{formatVolume(volume)} volume</span>
        {exclusive && chances.length > 1 && (
          <span>Chances add up to {formatChance(chances.reduce((sum, one) => sum + one, 0))}</span>
        )}
      </p>
      <ul class="market-list">
        {outcomes.map((outcome) => (
          <OutcomeRow key={outcome.marketId} outcome={outcome} />
        ))}
      </ul>
    </section>
  );
}

function OutcomeRow({ outcome }: { outcome: EventOutcome }): JSX.Element {
  const { marketId, outcomeName, chance, bestAsk, bestBid, volume, status } = outcome;
  const href = `/markets/${marketId}`;
  return (
    <li class="outcome-row">
      <div class="outcome-name">
        <a class="market-title" href={href}>
          {outcomeName}
        </a>
        <span class="market-facts">
          {status !== "open" && <Status status={status} outcome={outcome.resolvedOutcome} />}
          <span>{formatVolume(volume)} volume</span>
        </span>
      </div>
      <span class="row-chance-number">
        {status !== "resolved" && (
          <>
            {formatChance(chance)}
            <span class="unseen"> chance</span>
          </>
        )}
      </span>
      {status === "open" && (
        <div class="outcome-sides">
          <a class="button outcome-yes" href={`${href}?side=yes`}>
            Yes {formatPrice(bestAsk)}
          </a>
          <a class="button outcome-no" href={`${href}?side=no`}>
            No {formatPrice(bestBid === null ? null : 100 - bestBid)}
          </a>
        </div>
      )}
    </li>
  );
}
