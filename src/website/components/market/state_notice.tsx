import type { JSX } from "preact";
import type { Market, MarketResolution } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";
import { STAY_WORDS } from "../pause_notice.tsx";
import { isUndone } from "./market_head.tsx";

interface StateNoticeProps {
  market: Market;
  resolution: MarketResolution | undefined;
}

/** In the place of the ticket: why no orders are taken, and what happens next. */
export function StateNotice({ market, resolution }: StateNoticeProps): JSX.Element {
  return (
    <section class="panel stack" aria-labelledby="state-title">
      <StateWords market={market} resolution={resolution} />
    </section>
  );
}

function StateWords({ market, resolution }: StateNoticeProps): JSX.Element {
  const { status, resolvedOutcome } = market;
  if (isUndone(resolution)) {
    return (
      <>
        <h2 id="state-title">Undone</h2>
        <p class="muted">
          All trades were taken back, and everybody got back what they had put in. It is in the
          statement of your <a href="/portfolio">portfolio</a>.
        </p>
      </>
    );
  }
  if (status === "resolved") {
    return (
      <>
        <h2 id="state-title">
          {resolvedOutcome === "custom"
            ? "Resolved partly YES, partly NO"
            : `Resolved: ${resolvedOutcome?.toUpperCase() ?? ""}`}
        </h2>
        <p class="muted">
          {resolvedOutcome === "custom"
            ? "YES and NO shares each paid a part of €1.00, as the head of the page says. "
            : `A ${resolvedOutcome?.toUpperCase() ?? ""} share paid €1.00, the other one nothing. `}
          Payouts are in the statement of your <a href="/portfolio">portfolio</a>.
        </p>
      </>
    );
  }
  if (status === "paused") {
    return (
      <>
        <h2 id="state-title">Trading is paused</h2>
        <p class="muted">
          No orders are taken in this market until it is opened again. {STAY_WORDS}
        </p>
      </>
    );
  }
  return (
    <>
      <h2 id="state-title">Closed</h2>
      <p class="muted">
        Trading has ended. The market waits for its outcome; winning shares are then paid out
        automatically.
      </p>
    </>
  );
}

/** In the place of the ticket of a user who must not trade. */
export function ExcludedNotice({ until }: { until: string | null }): JSX.Element {
  return (
    <section class="panel stack" aria-labelledby="excluded-title">
      <h2 id="excluded-title">You excluded yourself</h2>
      <p class="muted">
        You cannot place or change orders{" "}
        {until === null ? "any more" : `until ${formatDateTime(until)}`}. Your shares are paid out
        as their markets resolve. <a href="/account#exclusion">See your exclusion</a>
      </p>
    </section>
  );
}
