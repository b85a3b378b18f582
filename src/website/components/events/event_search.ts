import { oneOf, pathSaying, sorts, statuses } from "../home/search.ts";
import type { Sort, Status } from "../home/search.ts";

/** What the page of events lists, as its address says it. */
export interface EventSearch {
  query: string;
  sort: Sort;
  status: Status;
  page: number;
}

/** How many events a page has. */
export const PAGE = 25;

const usual: EventSearch = { query: "", sort: "volume", status: "open", page: 1 };

/** Reads the query of an address; what it does not say, or says wrong, is as usual. */
export function eventSearchOf(asked: URLSearchParams): EventSearch {
  const page = asked.get("page") ?? "";
  return {
    query: asked.get("query") ?? usual.query,
    sort: oneOf(sorts, asked.get("sort")) ?? usual.sort,
    status: oneOf(statuses, asked.get("status")) ?? usual.status,
    page: /^[1-9]\d{0,3}$/.test(page) ? Number(page) : usual.page,
  };
}

/** The address of another search: it begins with the first page, unless another is named. */
export function eventsPath(search: EventSearch, change: Partial<EventSearch> = {}): string {
  return pathSaying("/events", { ...search, page: usual.page, ...change }, usual);
}
