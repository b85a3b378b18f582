import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { noteChangedRules } from "../../api/rules.ts";
import { isSignedIn } from "../../api/session.ts";
import type { Market, MarketResolution } from "../../api/types.ts";
import { formatCents, formatDateTime } from "../../format.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { LinkedText } from "./linked_text.tsx";
import { disputableUntil, OwnDisputes } from "./own_disputes.tsx";

interface RulesPanelProps {
  market: Market;
  resolution: MarketResolution | undefined;
}

/** What decides the outcome of a market, and, once it is resolved, how that came about. */
export function RulesPanel({ market, resolution }: RulesPanelProps): JSX.Element {
  const rules = useRules(market.id);
  const { id, title, description, status } = market;
  const version = JSON.stringify([id, title, description, status, resolution?.history]);
  const last = useRef(version);
  useEffect(() => {
    if (last.current !== version) noteChangedRules(id);
    last.current = version;
  }, [version]);
  const decides = rules?.resolutionRules ?? null;
  return (
    <section class="panel stack" aria-labelledby="rules-title">
      <h2 id="rules-title">Rules</h2>
      <p class="prose">{market.description === "" ? "No description." : market.description}</p>
      {decides !== null && (
        <>
          <h3>What decides the outcome</h3>
          <p class="prose">{decides}</p>
        </>
      )}
      <p class="prose">
        <strong>Source</strong>: {rules === undefined ? "…" : <Source url={rules.sourceUrl} />}
      </p>
      <p class="prose">
        <strong>Who decides</strong>: an operator of this exchange. The outcome, its evidence and
        any correction stand here for everybody.
      </p>
      <p class="prose">
        <strong>Disputes</strong>: {disputesOf(resolution)}
      </p>
      {resolution !== undefined && (
        <>
          <h3>Resolution</h3>
          <ol class="stack resolution-history">
            {resolution.history.map((entry) => (
              <li key={entry.at}>
                <Entry entry={entry} />
              </li>
            ))}
          </ol>
          {isSignedIn.value && <OwnDisputes marketId={market.id} resolution={resolution} />}
        </>
      )}
    </section>
  );
}

function Source({ url }: { url: string | null }): JSX.Element {
  return url === null ? <>none is named.</> : <LinkedText text={url} />;
}

type HistoryEntry = MarketResolution["history"][number];

function Entry({ entry }: { entry: HistoryEntry }): JSX.Element {
  const { at, kind, reason, evidence } = entry;
  return (
    <>
      <p>
        <time dateTime={at}>{formatDateTime(at)}</time>: {wordsOf(entry)}
      </p>
      {reason !== null && <p class="prose">Why: {reason}</p>}
      {evidence === null ? (
        kind !== "voided" && <p class="muted">No evidence was given.</p>
      ) : (
        <p class="prose">
          Evidence: <LinkedText text={evidence} />
        </p>
      )}
    </>
  );
}

/** Until when an outcome can be disputed, and by whom. */
function disputesOf(resolution: MarketResolution | undefined): string {
  if (resolution === undefined) return "who held shares can dispute the outcome for some time.";
  const { disputeUntil } = resolution;
  if (disputeUntil === null) return "this outcome cannot be disputed.";
  const until = formatDateTime(disputeUntil);
  return disputableUntil(resolution) === undefined
    ? `the outcome could be disputed until ${until}.`
    : `who held shares can dispute the outcome until ${until}.`;
}

function wordsOf({ kind, outcome, yesPayoutCents }: HistoryEntry): string {
  if (kind === "voided")
    return "an operator undid all trades; all traders got back what they put in";
  const named = outcome === "custom" ? "partly YES, partly NO" : outcome.toUpperCase();
  const did = kind === "resolved" ? "an operator resolved it to" : "an operator corrected it to";
  const [yes, no] = [formatCents(yesPayoutCents), formatCents(100 - yesPayoutCents)];
  return `${did} ${named}: a YES share paid ${yes}, a NO share ${no}`;
}
