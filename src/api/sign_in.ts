import type { Request } from "express";
import { ipAddressOf } from "../client_address.ts";
import { rejection } from "../http/problems.ts";
import { markingCookie, sessionCookieHashOf, settingCookie } from "../http/session_cookie.ts";
import { found } from "./common.ts";
import type { Context } from "./context.ts";

/** What the ways to sign in share: the browser of a session, and the answer that has its cookie. */

/** The headers of an answer that begins or ends a session. */
export const setsCookie = ["Set-Cookie"] as const;

/** What to do if it is not known whether a request has begun a session. */
export const signInToSee = "sign in to see";

/** What a session is made for. */
interface Browser {
  /** What the browser calls itself. Null if it does not. */
  browser: string | null;
  isHostOnly: boolean;
  /** From where. Undefined if that is not known. */
  address: string | undefined;
}

/** The browser that a request comes from. */
export function browserOf(request: Request, { site }: Pick<Context, "site">): Browser {
  const browser = request.headers["user-agent"]?.slice(0, 300) ?? null;
  return { browser, isHostOnly: site.isSecure(request), address: ipAddressOf(request) };
}

/** The browser, with the session that it had before, which ends. */
export function browserBefore(
  request: Request,
  context: Pick<Context, "site">,
): Browser & { endedCookieHash: Buffer | null } {
  const browser = browserOf(request, context);
  return { ...browser, endedCookieHash: sessionCookieHashOf(request, browser.isHostOnly) };
}

/** The answer to a user who signed in. */
interface SessionAnswer<SetCookie> {
  status: 200;
  body: { userId: string };
  headers: { "Set-Cookie": SetCookie };
}

/** The answer that has the session's cookie. Ends the request if there is no session. */
export function sessionAnswer(
  signedIn: { userId: string | null; cookie: string | null },
  otherwise = rejection("WRONG_CREDENTIALS"),
): SessionAnswer<string> {
  const userId = found(signedIn.userId, otherwise);
  const cookie = found(signedIn.cookie, otherwise);
  return { status: 200, body: { userId }, headers: { "Set-Cookie": settingCookie(cookie) } };
}

/** The answer, with a mark by which the browser is known when the session has ended. */
export async function withBrowserMark(
  { headers, ...answer }: SessionAnswer<string>,
  request: Request,
  { commands, site }: Context,
): Promise<SessionAnswer<string[]>> {
  const mark = await commands.getBrowserMark({ userId: answer.body.userId });
  const marking = mark === null ? [] : [markingCookie(mark, site.isSecure(request))];
  return { ...answer, headers: { "Set-Cookie": [headers["Set-Cookie"], ...marking] } };
}
