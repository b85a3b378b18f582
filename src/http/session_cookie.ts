import type { Request } from "express";
import { isWellFormedSecret, sha256Of } from "../secrets.ts";

/**
 * The cookie of a session. Under https it has a name that browsers keep from subdomains and from
 * plain http, and a value of another kind: so a value is only good under the name that it was made
 * for, and no other site of the domain can put a browser into a session of its own.
 */

const NAME = "pgmarkets_session";
const HOST_ONLY_NAME = `__Host-${NAME}`;
/** As long as sessions last. */
const MAX_AGE_SECONDS = 30 * 86_400;

/** What a browser keeps in which a user has signed in, also when the session has ended. */
const MARK_NAME = "pgmarkets_browser";
const MARK_MAX_AGE_SECONDS = 400 * 86_400;

/** The session cookie that the request brings. */
export function sessionCookieOf(request: Pick<Request, "headers">): string | undefined {
  const hostOnly = valueOf(request, HOST_ONLY_NAME);
  if (hostOnly !== undefined) return hostOnly.startsWith("jh_") ? hostOnly : undefined;
  const value = valueOf(request, NAME);
  return value?.startsWith("js_") === true ? value : undefined;
}

/** The mark of an account that the browser keeps, under either name: it is good for no more. */
export function browserMarkOf(request: Pick<Request, "headers">): string | undefined {
  const mark = valueOf(request, `__Host-${MARK_NAME}`) ?? valueOf(request, MARK_NAME);
  return mark !== undefined && /^[0-9a-f]{64}$/.test(mark) ? mark : undefined;
}

function valueOf({ headers }: Pick<Request, "headers">, name: string): string | undefined {
  const cookies = (headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** What the database knows of the session cookie that the request brings, if that is one. */
export function sessionCookieHashOf(request: Pick<Request, "headers">): Buffer | null {
  const cookie = sessionCookieOf(request);
  const isSound =
    cookie !== undefined &&
    (isWellFormedSecret(cookie, "js_") || isWellFormedSecret(cookie, "jh_"));
  return isSound ? sha256Of(cookie) : null;
}

/** The header that gives a browser its session. */
export function settingCookie(cookie: string): string {
  return cookieHeader(NAME, cookie, cookie.startsWith("jh_"), MAX_AGE_SECONDS);
}

/** The header that takes the session from a browser. */
export function clearingCookie(isHostOnly: boolean): string {
  return cookieHeader(NAME, "", isHostOnly, 0);
}

/** The header that gives a browser the mark of an account. */
export function markingCookie(mark: string, isHostOnly: boolean): string {
  return cookieHeader(MARK_NAME, mark, isHostOnly, MARK_MAX_AGE_SECONDS);
}

function cookieHeader(
  plainName: string,
  value: string,
  isHostOnly: boolean,
  maxAgeSeconds: number,
): string {
  const name = isHostOnly ? `__Host-${plainName}` : plainName;
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${name}=${value}; ${attributes}${isHostOnly ? "; Secure" : ""}`;
}
