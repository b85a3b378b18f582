import type { JSX } from "preact";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import type { ListedEvent } from "../api/types.ts";
import { useCategoryName } from "../components/category_link.tsx";
import { eventSearchOf, eventsPath, PAGE } from "../components/events/event_search.ts";
import type { EventSearch } from "../components/events/event_search.ts";
import { Filters } from "../components/home/filters.tsx";
import { SearchField } from "../components/search_field.tsx";
import { Empty, Show } from "../components/states.tsx";
import { timeWord } from "../components/time_word.ts";
import { formatCount, formatDateTime } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useTitle } from "../hooks/use_title.ts";
import { navigate, query } from "../router.ts";

const READ_EVERY_MS = 60_000;

/** All events that have markets, to search and to choose from. The address says which are listed. */
export function EventsPage(): JSX.Element {
  useTitle("Events");
  const search = eventSearchOf(query.value);
  const change = (values: Partial<EventSearch>): void => {
    navigate(eventsPath(eventSearchOf(query.peek()), values), { replace: true });
  };
  return (
    <>
      <div class="home-head">
        <h1>Events</h1>
        <p class="lead">Each event has one or more markets about what it brings.</p>
        <SearchField
          label="Search events"
          text={search.query}
          onText={(text) => {
            change({ query: text });
          }}
        />
      </div>
      <Filters search={search} onChange={change} />
      <Events key={eventsPath(search, { page: search.page })} search={search} />
    </>
  );
}

function Events({ search }: { search: EventSearch }): JSX.Element {
  const { query: words, sort, status, page } = search;
  const asked = { sort, status, page, limit: PAGE, ...(words !== "" && { query: words }) };
  const events = useAsked(
    () => resultOf(publicApi.GET("/api/v1/events", { params: { query: asked } })),
    [],
  );
  useEvery(READ_EVERY_MS, events.askAgain);
  return (
    <Show asked={events} lines={8}>
      {({ data, meta: { total } }) => (
        <>
          <p class="unseen" role="status">
            {formatCount(total)} {total === 1 ? "event" : "events"}
          </p>
          {data.length === 0 ? (
            <Empty title="No events found">
              Try other words, or <a href="/events">see all events</a>.
            </Empty>
          ) : (
            <section class="panel market-group" aria-label="Events">
              <ul class="market-list">
                {data.map((event) => (
                  <EventRow key={event.id} event={event} />
                ))}
              </ul>
            </section>
          )}
          <Pager search={search} pageCount={Math.ceil(total / PAGE)} />
        </>
      )}
    </Show>
  );
}

function EventRow({ event }: { event: ListedEvent }): JSX.Element {
  const { id, title, category, startsAt, endsAt } = event;
  return (
    <li class="market-row event-row">
      <a class="market-link" href={`/events/${id}`}>
        <span class="market-title">{title}</span>
        <span class="market-facts">
          <span>{useCategoryName(category)}</span>
          {startsAt !== null && (
            <span>
              {timeWord("start", startsAt)} {formatDateTime(startsAt)}
            </span>
          )}
          {endsAt !== null && (
            <span>
              {timeWord("end", endsAt)} {formatDateTime(endsAt)}
            </span>
          )}
        </span>
      </a>
    </li>
  );
}

/** The pages before and after this one. */
function Pager({
  search,
  pageCount,
}: {
  search: EventSearch;
  pageCount: number;
}): JSX.Element | null {
  const { page } = search;
  if (pageCount <= 1 && page === 1) return null;
  const before = Math.min(page - 1, Math.max(pageCount, 1));
  return (
    <nav class="pager" aria-label="Pages">
      {before > 0 && (
        <a class="button button-small" href={eventsPath(search, { page: before })}>
          Previous
        </a>
      )}
      <span>
        Page {formatCount(page)} of {formatCount(pageCount)}
      </span>
      {page < pageCount && (
        <a class="button button-small" href={eventsPath(search, { page: page + 1 })}>
          Next
        </a>
      )}
    </nav>
  );
}
