import type { JSX } from "preact";
import type { ListedMarket } from "../../api/types.ts";
import { useEvent } from "../../hooks/use_event.ts";
import { LiveBadge } from "../live_badge.tsx";
import { mayBeLive } from "../may_be_live.ts";
import { groupByEvent } from "./groups.ts";
import { MarketRow } from "./market_row.tsx";

/** Markets as a list, those of an event under its name. */
export function MarketList({ markets }: { markets: ListedMarket[] }): JSX.Element {
  return (
    <div class="market-groups">
      {groupByEvent(markets).map(({ eventId, markets: grouped }) => (
        <section class="panel market-group" key={eventId ?? grouped[0]?.id}>
          {eventId !== null && <EventName id={eventId} markets={grouped} />}
          <ul class="market-list">
            {grouped.map((market) => (
              <MarketRow key={market.id} market={market} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

interface EventNameProps {
  id: string;
  markets: ListedMarket[];
}

function EventName({ id, markets }: EventNameProps): JSX.Element {
  const event = useEvent(id);
  return (
    <h2 class="event-name">
      <a href={`/events/${id}`}>{event?.title ?? "Event"}</a>{" "}
      {event !== undefined && mayBeLive(event) && <LiveBadge markets={markets} />}
    </h2>
  );
}
