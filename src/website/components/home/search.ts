/** What the home page lists, as its address says it. */
export interface Search {
  query: string;
  category: string;
  sort: Sort;
  status: Status;
  /** How many markets, at most. */
  shown: number;
}

export type Sort = (typeof sorts)[number]["value"];
export type Status = (typeof statuses)[number]["value"];

export const sorts = [
  { value: "volume", label: "Most traded" },
  { value: "newest", label: "Newest" },
  { value: "closing", label: "Closing soon" },
] as const;

export const statuses = [
  { value: "open", label: "Open" },
  { value: "closed", label: "Closed" },
] as const;

const SMALL_STEP = 25;
/** Of one request: the most that the API lists. */
export const PAGE = 50;
const MOST = 10 * PAGE;

const usual: Search = {
  ...{ query: "", category: "", sort: "volume", status: "open" },
  shown: SMALL_STEP,
};

/** Reads the query of an address; what it does not say, or says wrong, is as usual. */
export function searchOf(asked: URLSearchParams): Search {
  return {
    query: asked.get("query") ?? usual.query,
    category: asked.get("category") ?? usual.category,
    sort: oneOf(sorts, asked.get("sort")) ?? usual.sort,
    status: oneOf(statuses, asked.get("status")) ?? usual.status,
    shown: stepUpTo(Number(asked.get("shown"))),
  };
}

/** The address of another search: it begins with the first markets, unless it only shows more. */
export function pathOf(search: Search, change: Partial<Search> = {}): string {
  return pathSaying("/", { ...search, shown: usual.shown, ...change }, usual);
}

/** A path with what of a search is not as usual. */
export function pathSaying<Asked extends object>(path: string, asked: Asked, usual: Asked): string {
  const said = Object.entries(asked).filter(
    ([name, value]) => value !== usual[name as keyof Asked],
  );
  const text = new URLSearchParams(
    said.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** How many to show after "Show more"; undefined where there is no more to show. */
export function moreThan(shown: number): number | undefined {
  if (shown >= MOST) return undefined;
  return shown < PAGE ? shown + SMALL_STEP : shown + PAGE;
}

/** How many pages of the API have the markets that are shown. */
export function pageCountOf(shown: number): number {
  return Math.ceil(shown / PAGE);
}

function stepUpTo(wanted: number): number {
  let shown = usual.shown;
  for (;;) {
    const more = moreThan(shown);
    if (more === undefined || !(shown < wanted)) return shown;
    shown = more;
  }
}

/** The one of these values that a text is. */
export function oneOf<Value extends string>(
  options: readonly { value: Value }[],
  text: string | null,
): Value | undefined {
  return options.find(({ value }) => value === text)?.value;
}
