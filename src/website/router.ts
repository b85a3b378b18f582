import { computed, signal } from "@preact/signals";
import { isPagePath, pageAt, returnPathOf } from "./paths.ts";
import { atTheTop, followScroll, noteScroll, restoreScroll } from "./scroll.ts";

/** Where the reader is. Links between pages do not load the page anew. */

interface Place {
  path: string;
  query: string;
  fragment: string;
}

function placeNow(): Place {
  return { path: location.pathname, query: location.search, fragment: location.hash.slice(1) };
}

const place = signal(placeNow());

/** The page to show; undefined for a path without one. */
export const page = computed(() => pageAt(place.value.path));

/** The path of the address. */
export const path = computed(() => place.value.path);

/** The path and query, as for a way back after signing in. */
export const address = computed(() => place.value.path + place.value.query);

/** The query of the address. */
export const query = computed(() => new URLSearchParams(place.value.query));

/** What stands behind the # of the address: the token of a link that came by mail. */
export const fragment = computed(() => place.value.fragment);

/** Goes to another page. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(history.state, "", to);
  } else {
    noteScroll();
    history.pushState(atTheTop, "", to);
  }
  const before = place.value.path;
  place.value = placeNow();
  if (!replace || place.value.path !== before) scrollTo(0, 0);
}

/** Changes the query of this page, without a step in the history. */
export function setQuery(values: Record<string, string | undefined>): void {
  const next = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(place.value.path + (text === "" ? "" : `?${text}`), { replace: true });
}

/**
 * Follows links to pages of ours, and the browser's buttons back and forward. Other links are
 * loaded.
 */
export function followLinks(isOurs: (path: string) => boolean = isPagePath): void {
  followScroll();
  addEventListener("popstate", () => {
    place.value = placeNow();
    restoreScroll();
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || !isPlainClick(event) || link.target !== "" || link.download !== "") return;
    if (link.origin !== location.origin || !isOurs(link.pathname)) return;
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  });
}

function isPlainClick(event: MouseEvent): boolean {
  const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  return event.button === 0 && !hasModifier && !event.defaultPrevented;
}

/** The query of a link to signing in or up, from a page of that kind: its way back is kept. */
export function backQuery(): string {
  const back = query.value.get("back");
  return back === null ? "" : `?back=${encodeURIComponent(back)}`;
}

/** A way back given as a query's value: a path of ours, and nothing else. */
export function safeReturnPath(text: string | null): string {
  return returnPathOf(text, location.origin);
}
