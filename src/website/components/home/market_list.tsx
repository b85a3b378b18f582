import type { JSX } from "preact";
import { publicApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { ListedMarket } from "../../api/types.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { groupByEvent } from "./groups.ts";
import { MarketRow } from "./market_row.tsx";

/** Markets as a list, those of an event under its name. */
export function MarketList({ markets }: { markets: ListedMarket[] }): JSX.Element {
  return (
    <div class="market-groups">
      {groupByEvent(markets).map(({ eventId, markets: grouped }) => (
        <section class="panel market-group" key={eventId ?? grouped[0]?.id}>
          {eventId !== null && <EventName id={eventId} />}
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

const titles = new Map<string, string>();

function EventName({ id }: { id: string }): JSX.Element {
  const title = useAsked(async () => {
    const known = titles.get(id);
    if (known !== undefined) return { ok: true, data: known } as const;
    const params = { path: { id } };
    const result = await resultOf(publicApi.GET("/api/v1/events/{id}", { params }));
    if (!result.ok) return result;
    titles.set(id, result.data.title);
    return { ok: true, data: result.data.title } as const;
  }, [id]);
  return (
    <h2 class="event-name">
      <a href={`/events/${id}`}>{title.data ?? "Event"}</a>
    </h2>
  );
}
