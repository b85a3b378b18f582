import type { Request } from "express";
import { z } from "zod";
import { hashPassword, standardSettings } from "../accounts/passwords.ts";
import { rejection, rejections } from "../http/problems.ts";
import { clearingStaffCookie, settingStaffCookie, staffCookieOf } from "../http/session_cookie.ts";
import { sha256Of } from "../secrets.ts";
import { anyEmailSchema, passwordSchema } from "./account_schemas.ts";
import { found, uuidSchema } from "./common.ts";
import type { Context } from "./context.ts";
import { proofOf, signatureSchema } from "./passkey_ceremonies.ts";
import { route } from "./route.ts";
import { browserOf, setsCookie, signInToSee } from "./sign_in.ts";
import { staffCounters } from "./sign_in_attempts.ts";

/** How members of staff sign in, by password and passkey, and out. */

const wrong = rejection("WRONG_CREDENTIALS");

/** Who signed in: the answer also sets the cookie of the session. */
export const staffSchema = z
  .strictObject({ staffId: uuidSchema, name: z.string(), roles: z.array(z.string()) })
  .meta({ id: "StaffSession" });

const signIn = route({
  method: "post",
  path: "/api/operator/sign-in",
  operationId: "signInStaff",
  tag: "Operator",
  summary: "Signs in a member of staff",
  description:
    "It needs all three: the e-mail address, the password, and a passkey. `credential` is the JSON " +
    "of what `navigator.credentials.get()` gave for the options of `POST " +
    "/api/account/sign-in-passkey/options`. Whatever is wrong, the answer is the same. The session " +
    "lasts 12 hours; the one that the browser had before ends.",
  auth: "none",
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: {
    body: z.object({
      email: anyEmailSchema,
      password: passwordSchema,
      credential: signatureSchema,
    }),
  },
  responses: { 200: { description: "A session.", schema: staffSchema, headers: setsCookie } },
  problems: rejections("WRONG_CREDENTIALS"),
  handler: async ({ body, address, request, response }, context) => {
    const { email, password, credential } = body;
    const { access, commands, reads, site } = context;
    const signed = await proofOf(credential, request, { find: reads.getStaffPasskey, site });
    await access.countAttempt(staffCounters(credential, address, signed !== undefined), response);
    // Strangers cause no hashing: only who has a passkey of staff gets here. From here on the work is
    // the same for every address, with a member of staff or without.
    const proof = found(signed, wrong);
    const settings = await reads.getStaffPasswordSettings({ standard: standardSettings, email });
    const passwordHash = await hashPassword(password, settings, { isKnown: true });
    const { cookie } = await commands.signInStaff({
      ...{ email, passwordHash, ...proof },
      ...browserBefore(request, context),
    });
    return { status: 200, ...(await staffSessionAnswer(cookie, request, context)) };
  },
});

const session = route({
  method: "get",
  path: "/api/operator/session",
  operationId: "getStaffSession",
  tag: "Operator",
  summary: "Who is signed in",
  auth: "staff",
  rateLimit: "read",
  responses: {
    200: {
      description: "The member of staff.",
      schema: z.strictObject({ ...staffSchema.shape, email: z.string() }),
    },
  },
  handler: ({ caller: { staffId, name, email, roles } }) => ({
    status: 200,
    body: { staffId, name, email, roles },
  }),
});

const signOut = route({
  method: "delete",
  path: "/api/operator/session",
  operationId: "signOutStaff",
  tag: "Operator",
  summary: "Ends the session",
  auth: "staff",
  rateLimit: "account",
  responses: {
    200: { description: "It has ended.", schema: z.strictObject({}), headers: setsCookie },
  },
  handler: async ({ caller: { sessionId }, request }, { commands, site }) => {
    await commands.signOutStaff({ sessionId });
    const headers = { "Set-Cookie": clearingStaffCookie(site.isSecure(request)) };
    return { status: 200, body: {}, headers };
  },
});

export const operatorAccessRoutes = [signIn, session, signOut];

/** The browser of a request, with the session of staff that it had before, which ends. */
function browserBefore(request: Request, { site }: Context) {
  const { browser, address, isHostOnly } = browserOf(request, { site });
  const cookie = staffCookieOf(request, isHostOnly);
  return { browser, address, endedCookieHash: cookie === undefined ? null : sha256Of(cookie) };
}

interface SessionAnswer {
  body: z.output<typeof staffSchema>;
  headers: { "Set-Cookie": string };
}

/** Whose session this cookie is, and the cookie. Ends the request if there is none. */
export async function staffSessionAnswer(
  made: string | null,
  request: Request,
  { authenticator, site }: Context,
  otherwise = wrong,
): Promise<SessionAnswer> {
  const cookie = found(made, otherwise);
  const caller = found(await authenticator.callerOfStaffCookie(cookie), otherwise);
  const { staffId, name, roles } = caller;
  return {
    body: { staffId, name, roles },
    headers: { "Set-Cookie": settingStaffCookie(cookie, site.isSecure(request)) },
  };
}
