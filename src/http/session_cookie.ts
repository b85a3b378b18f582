import type { Request } from "express";
import { isWellFormedSecret, sha256Of } from "../secrets.ts";

/**
 * The cookies of sessions. Under https they have names that browsers keep from subdomains and from
 * plain http. That of a user has a value of another kind there: so a value is only good under the name
 * that it was made for, and no other site of the domain can put a browser into a session of its own.
 */

const NAME = "pgmarkets_session";
/** As long as sessions last. */
const MAX_AGE_SECONDS = 30 * 86_400;

/** Of a member of staff. */
const STAFF_NAME = "pgmarkets_operator";
const STAFF_MAX_AGE_SECONDS = 12 * 3600;

/** What a browser keeps in which a user has signed in, also when the session has ended. */
const MARK_NAME = "pgmarkets_browser";
const MARK_MAX_AGE_SECONDS = 400 * 86_400;

/** The session cookie that the request brings, of the kind that the site sets. */
export function sessionCookieOf(
  request: Pick<Request, "headers">,
  isHostOnly: boolean,
): string | undefined {
  const cookie = valueOf(request, nameOf(NAME, isHostOnly));
  const isSound = cookie !== undefined && isWellFormedSecret(cookie, isHostOnly ? "jh_" : "js_");
  return isSound ? cookie : undefined;
}

/** The cookie of a session of staff that the request brings, under the name that the site sets. */
export function staffCookieOf(
  request: Pick<Request, "headers">,
  isHostOnly: boolean,
): string | undefined {
  const cookie = valueOf(request, nameOf(STAFF_NAME, isHostOnly));
  return cookie !== undefined && isWellFormedSecret(cookie, "jf_") ? cookie : undefined;
}

/** The mark of an account that the browser keeps, under either name: it is good for no more. */
export function browserMarkOf(request: Pick<Request, "headers">): string | undefined {
  const mark = valueOf(request, nameOf(MARK_NAME, true)) ?? valueOf(request, MARK_NAME);
  return mark !== undefined && /^[0-9a-f]{64}$/.test(mark) ? mark : undefined;
}

function valueOf({ headers }: Pick<Request, "headers">, name: string): string | undefined {
  const cookies = (headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** What the database knows of the session cookie that the request brings, if that is one. */
export function sessionCookieHashOf(
  request: Pick<Request, "headers">,
  isHostOnly: boolean,
): Buffer | null {
  const cookie = sessionCookieOf(request, isHostOnly);
  return cookie === undefined ? null : sha256Of(cookie);
}

/** The header that gives a browser its session. */
export function settingCookie(cookie: string): string {
  return cookieHeader(NAME, cookie, {
    isHostOnly: cookie.startsWith("jh_"),
    maxAgeSeconds: MAX_AGE_SECONDS,
  });
}

/** The header that takes the session from a browser. */
export function clearingCookie(isHostOnly: boolean): string {
  return cookieHeader(NAME, "", { isHostOnly, maxAgeSeconds: 0 });
}

/** The header that gives a browser a session of staff. */
export function settingStaffCookie(cookie: string, isHostOnly: boolean): string {
  return cookieHeader(STAFF_NAME, cookie, {
    ...{ isHostOnly, sameSite: "Strict" },
    maxAgeSeconds: STAFF_MAX_AGE_SECONDS,
  });
}

/** The header that takes the session of staff from a browser. */
export function clearingStaffCookie(isHostOnly: boolean): string {
  return cookieHeader(STAFF_NAME, "", { isHostOnly, maxAgeSeconds: 0, sameSite: "Strict" });
}

/** The header that gives a browser the mark of an account. */
export function markingCookie(mark: string, isHostOnly: boolean): string {
  return cookieHeader(MARK_NAME, mark, { isHostOnly, maxAgeSeconds: MARK_MAX_AGE_SECONDS });
}

function nameOf(plainName: string, isHostOnly: boolean): string {
  return isHostOnly ? `__Host-${plainName}` : plainName;
}

interface CookieOptions {
  isHostOnly: boolean;
  maxAgeSeconds: number;
  /** Whether links of other sites bring the cookie (Lax) or no request of theirs does (Strict). */
  sameSite?: "Lax" | "Strict";
}

function cookieHeader(
  plainName: string,
  value: string,
  { isHostOnly, maxAgeSeconds, sameSite = "Lax" }: CookieOptions,
): string {
  const name = nameOf(plainName, isHostOnly);
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}`;
  return `${name}=${value}; ${attributes}${isHostOnly ? "; Secure" : ""}`;
}
