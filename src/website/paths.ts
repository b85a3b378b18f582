/**
 * The paths of the website's pages. The server answers other paths with status 404; the pages
 * choose by these what to show.
 */

/** An id, as a part of a pattern. */
export const uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

const patterns = {
  home: /^\/$/,
  market: new RegExp(`^/markets/(${uuid})$`),
  event: new RegExp(`^/events/(${uuid})$`),
  events: /^\/events$/,
  portfolio: /^\/portfolio$/,
  leaderboard: /^\/leaderboard$/,
  account: /^\/account$/,
  signIn: /^\/sign-in$/,
  signUp: /^\/sign-up$/,
  confirm: /^\/confirm$/,
  reset: /^\/reset$/,
  help: /^\/help$/,
  proof: /^\/proof$/,
} as const;

/** Which page a path shows. */
export type PageName = keyof typeof patterns;

/** A page, and the id that its path names, if it names one. */
export interface PageAddress {
  name: PageName;
  id: string;
}

/** The page at a path; undefined for a path without one. */
export function pageAt(path: string): PageAddress | undefined {
  return addressAmong(patterns, path);
}

/** The pattern that a path fits, and the id that the path names, if it names one. */
export function addressAmong<Name extends string>(
  patterns: Record<Name, RegExp>,
  path: string,
): { name: Name; id: string } | undefined {
  for (const name of Object.keys(patterns) as Name[]) {
    const match = patterns[name].exec(path);
    if (match !== null) return { name, id: (match[1] ?? "").toLowerCase() };
  }
  return undefined;
}

/** Whether a path shows a page. */
export function isPagePath(path: string): boolean {
  return pageAt(path) !== undefined;
}

/** The page of ours that a text leads to; the first page for anything else. */
export function returnPathOf(text: string | null, origin: string): string {
  // Browsers read a backslash as a slash, and two of them as the beginning of another host.
  if (text === null || !/^\/(?![/\\])/.test(text)) return "/";
  const url = URL.canParse(text, origin) ? new URL(text, origin) : undefined;
  if (url?.origin !== origin || !isPagePath(url.pathname)) return "/";
  return url.pathname + url.search + url.hash;
}
