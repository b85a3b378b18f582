import type { JSX } from "preact";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { session } from "../api/session.ts";
import { CategoryLink } from "../components/category_link.tsx";
import { EventChart, MOST_LINES } from "../components/chart/event_chart.tsx";
import { Outcomes, rankedOutcomes, winnerOf } from "../components/event_outcomes.tsx";
import { ExchangeShares } from "../components/events/exchange_shares.tsx";
import { LiveBadge } from "../components/live_badge.tsx";
import { mayBeLive } from "../components/may_be_live.ts";
import { Empty, Show } from "../components/states.tsx";
import { timeWord } from "../components/time_word.ts";
import { Unknown } from "../components/unknown.tsx";
import { formatDateTime } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useEventCloses } from "../hooks/use_closes.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useTitle } from "../hooks/use_title.ts";

const READ_EVERY_MS = 20_000;

/** An event with the markets about it. */
export function EventPage({ id }: { id: string }): JSX.Element {
  const event = useAsked(
    () => resultOf(publicApi.GET("/api/v1/events/{id}", { params: { path: { id } } })),
    [id],
  );
  useEvery(READ_EVERY_MS, event.askAgain);
  const outcomes = useAsked(
    () => resultOf(publicApi.GET("/api/v1/events/{id}/outcomes", { params: { path: { id } } })),
    [id],
  );
  useEvery(READ_EVERY_MS, outcomes.askAgain);
  const ranked = outcomes.data === undefined ? [] : rankedOutcomes(outcomes.data);
  const winner = outcomes.data && winnerOf(outcomes.data);
  const closes = useEventCloses(ranked.slice(0, MOST_LINES));
  const isUnknown = event.data === undefined && event.problem?.status === 404;
  useTitle(isUnknown ? "Event not found" : event.data?.title);
  if (isUnknown) return <Unknown what="event" />;
  return (
    <Show asked={event} lines={6} title="Event">
      {({ title, description, category, startsAt, endsAt, markets }) => (
        <>
          <p class="crumbs">
            <CategoryLink slug={category} />
            {mayBeLive({ startsAt, endsAt }) && <LiveBadge markets={markets} />}
          </p>
          <h1>{title}</h1>
          {winner !== undefined && (
            <p class="lead">
              <strong>{winner.outcomeName} won</strong>
            </p>
          )}
          {description !== null && description !== "" && <p class="lead">{description}</p>}
          <p class="muted">
            {startsAt !== null && `${timeWord("Start", startsAt)} ${formatDateTime(startsAt)}. `}
            {endsAt !== null && `${timeWord("End", endsAt)} ${formatDateTime(endsAt)}.`}
          </p>
          {markets.length === 0 ? (
            <Empty title="No markets about this event yet" />
          ) : (
            <>
              <EventChart
                outcomes={ranked.map(({ marketId, outcomeName }) => ({
                  marketId,
                  name: outcomeName,
                }))}
                closes={closes}
              />
              <Show asked={outcomes} lines={4}>
                {(data) => (
                  <>
                    <Outcomes outcomes={data} />
                    <ExchangeShares key={session.value} eventId={id} event={data} />
                  </>
                )}
              </Show>
            </>
          )}
        </>
      )}
    </Show>
  );
}
