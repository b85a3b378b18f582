import type { JSX } from "preact";
import type { EventHeading, ListedMarket } from "../../api/types.ts";
import { useCloses } from "../../hooks/use_closes.ts";
import { useEvents } from "../../hooks/use_event.ts";
import { LiveWords } from "../live_badge.tsx";
import { mayBeLive } from "../may_be_live.ts";
import { groupByEvent } from "./groups.ts";
import { MarketRow } from "./market_row.tsx";

interface MarketListProps {
  /** The markets that are shown. */
  markets: ListedMarket[];
  /** All that were read: what belongs to them is asked for together. */
  read: ListedMarket[];
}

/** Markets as a list, those of an event under its name. */
export function MarketList({ markets, read }: MarketListProps): JSX.Element {
  const closes = useCloses(read.map(({ id }) => id));
  const events = useEvents(read.map(({ eventId }) => eventId));
  return (
    <div class="market-groups">
      {groupByEvent(markets).map(({ eventId, markets: grouped }) => (
        <section class="panel market-group" key={eventId ?? grouped[0]?.id}>
          {eventId !== null && <EventName id={eventId} event={events.get(eventId)} />}
          <ul class="market-list">
            {grouped.map((market) => (
              <MarketRow key={market.id} market={market} closes={closes.get(market.id)} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

interface EventNameProps {
  id: string;
  event: EventHeading | undefined;
}

function EventName({ id, event }: EventNameProps): JSX.Element {
  return (
    <h2 class="event-name">
      <a href={`/events/${id}`}>{event?.title ?? "Event"}</a>{" "}
      {event !== undefined && event.liveDelayMs !== null && mayBeLive(event) && (
        <LiveWords delayMs={event.liveDelayMs} />
      )}
    </h2>
  );
}
