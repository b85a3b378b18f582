import type { JSX } from "preact";
import type { EventOutcome, EventOutcomes } from "../api/types.ts";
import { formatChance, formatPrice, formatVolume } from "../format.ts";
import { Status } from "./status.tsx";

/** The outcome that won; undefined while none has, and where several may. */
export function winnerOf({ exclusive, outcomes }: EventOutcomes): EventOutcome | undefined {
  return exclusive ? outcomes.find(({ resolvedOutcome }) => resolvedOutcome === "yes") : undefined;
}

/** The outcomes of an event as the server has them, but the one that won first. */
export function rankedOutcomes(event: EventOutcomes): EventOutcome[] {
  const winner = winnerOf(event);
  if (winner === undefined) return event.outcomes;
  return [winner, ...event.outcomes.filter((outcome) => outcome !== winner)];
}

/** The outcomes of an event, the most likely first, each with what YES and NO cost now. */
export function Outcomes({ outcomes: event }: { outcomes: EventOutcomes }): JSX.Element {
  const outcomes = rankedOutcomes(event);
  const winner = winnerOf(event);
  const isUndecided =
    event.exclusive &&
    outcomes.some(({ status }) => status !== "resolved") &&
    outcomes.every(({ resolvedOutcome }) => resolvedOutcome === null || resolvedOutcome === "no");
  // As the rows show them, or they would not add up.
  const chances = outcomes.flatMap(({ chance, status }) =>
    chance === null || status === "resolved" ? [] : [Math.round(chance)],
  );
  const volume = outcomes.reduce((sum, { volume: one }) => sum + one, 0);
  return (
    <section class="panel market-group" aria-label="Markets">
      <p class="outcome-facts">
        {isUndecided && <span>Exactly one of them resolves YES.</span>}
        <span>{formatVolume(volume)} volume</span>
        {isUndecided && chances.length > 1 && (
          <span>Chances add up to {formatChance(chances.reduce((sum, one) => sum + one, 0))}</span>
        )}
      </p>
      <ul class="market-list">
        {outcomes.map((outcome) => (
          <OutcomeRow
            key={outcome.marketId}
            outcome={outcome}
            hasChance={winner === undefined && outcome.status !== "resolved"}
          />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  outcome: EventOutcome;
  hasChance: boolean;
}

function OutcomeRow({ outcome, hasChance }: RowProps): JSX.Element {
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
        {hasChance && (
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
            <span class="unseen"> for {outcomeName}</span>
          </a>
          <a class="button outcome-no" href={`${href}?side=no`}>
            No {formatPrice(bestBid === null ? null : 100 - bestBid)}
            <span class="unseen"> for {outcomeName}</span>
          </a>
        </div>
      )}
    </li>
  );
}
