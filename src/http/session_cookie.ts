import type { Request } from "express";
import { hashApiKey, isWellFormedApiKey } from "../database/api_key.ts";

/**
 * The cookie of a session. Under https it has a name that browsers keep from subdomains and from
 * plain http, and a value of another kind: so a value is only good under the name that it was made
 * for, and no other site of the domain can put a browser into a session of its own.
 */

const NAME = "pgmarkets_session";
const HOST_ONLY_NAME = `__Host-${NAME}`;
/** As long as sessions last. */
const MAX_AGE_SECONDS = 30 * 86_400;

/** The session cookie that the request brings. */
export function sessionCookieOf(request: Pick<Request, "headers">): string | undefined {
  const cookies = (request.headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  const valueOf = (name: string): string | undefined =>
    cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
  const hostOnly = valueOf(HOST_ONLY_NAME);
  if (hostOnly !== undefined) return hostOnly.startsWith("jh_") ? hostOnly : undefined;
  const value = valueOf(NAME);
  return value?.startsWith("js_") === true ? value : undefined;
}

/** What the database knows of the session cookie that the request brings, if that is one. */
export function sessionCookieHashOf(request: Pick<Request, "headers">): Buffer | null {
  const cookie = sessionCookieOf(request);
  const isSound =
    cookie !== undefined &&
    (isWellFormedApiKey(cookie, "js_") || isWellFormedApiKey(cookie, "jh_"));
  return isSound ? hashApiKey(cookie) : null;
}

/** The header that gives a browser its session. */
export function settingCookie(cookie: string): string {
  return cookieHeader(cookie, cookie.startsWith("jh_"), MAX_AGE_SECONDS);
}

/** The header that takes the session from a browser. */
export function clearingCookie(isHostOnly: boolean): string {
  return cookieHeader("", isHostOnly, 0);
}

function cookieHeader(value: string, isHostOnly: boolean, maxAgeSeconds: number): string {
  const name = isHostOnly ? HOST_ONLY_NAME : NAME;
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${name}=${value}; ${attributes}${isHostOnly ? "; Secure" : ""}`;
}
