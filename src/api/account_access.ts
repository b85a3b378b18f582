import type { Request } from "express";
import { z } from "zod";
import { isLikeAccount } from "../accounts/common_passwords.ts";
import { hashPassword, isStandard, newSettings, standardSettings } from "../accounts/passwords.ts";
import { tokenOf } from "../http/authentication.ts";
import { ProblemError, rejection, rejections } from "../http/problems.ts";
import { hashApiKey, isWellFormedApiKey } from "../database/api_key.ts";
import { route } from "./route.ts";
import {
  browserMarkOf,
  clearingCookie,
  markingCookie,
  sessionCookieHashOf,
  settingCookie,
} from "../http/session_cookie.ts";
import type { Context } from "./context.ts";
import {
  anyEmailSchema,
  displayNameSchema,
  emailSchema,
  handleSchema,
  linkTokenSchema,
  newPasswordSchema,
  passwordSchema,
  signedInSchema,
  signUpPolicySchema,
} from "./account_schemas.ts";
import { found, uuidSchema } from "./common.ts";

/**
 * Ways into an account of the website, and out of it. No answer shows whether an address has an
 * account: answers, and the work for them, are the same.
 */

const nothing = z.strictObject({});
const setsCookie = ["Set-Cookie"] as const;
const signInAgain = "sign in to see";

const signUpPolicy = route({
  method: "get",
  path: "/api/account/sign-up",
  operationId: "getSignUp",
  tag: "Account",
  summary: "Who may sign up",
  auth: "none",
  rateLimit: "read",
  responses: { 200: { description: "The policy.", schema: signUpPolicySchema } },
  handler: (_call, { reads }) => reads.getSignUp(),
});

const signUp = route({
  method: "post",
  path: "/api/account/sign-up",
  operationId: "signUp",
  tag: "Account",
  summary: "Makes an account and signs in",
  description:
    "The e-mail address and the handle are the account's once the link in the mail is followed. " +
    "Whether they are taken is said only then, or at once with an `invitation`: the token of an " +
    "operator's link to this address.",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: signInAgain,
  request: {
    body: z
      .object({
        email: emailSchema,
        displayName: displayNameSchema,
        handle: handleSchema,
        password: newPasswordSchema,
        invitation: linkTokenSchema.nullish(),
      })
      .refine(({ password, ...account }) => !isLikeAccount(password, account), {
        path: ["password"],
        message: "has little besides your e-mail address or handle",
      }),
  },
  responses: {
    201: {
      description: "A new account.",
      schema: z.strictObject({ userId: uuidSchema, emailConfirmed: z.boolean() }),
      headers: setsCookie,
    },
  },
  problems: rejections("SIGN_UP_CLOSED", "INVALID_LINK", "ALREADY_EXISTS"),
  handler: async ({ body, address, request, response }, context) => {
    const { access, commands } = context;
    const counters = { "sign-up": address, "mail-account": mailSubject("sign-up", body.email) };
    await access.countAttempt(counters, response);
    const { email, displayName, handle } = body;
    const invitationHash = isGiven(body.invitation) ? linkHash(body.invitation) : null;
    const passwordHash = await hashPassword(body.password, newSettings());
    const { userId, emailConfirmed, cookie } = await commands.signUp({
      ...{ email, displayName, handle, passwordHash, invitationHash },
      ...browserBefore(request, context),
    });
    const headers = { "Set-Cookie": settingCookie(cookie) };
    return { status: 201, body: { userId, emailConfirmed }, headers };
  },
});

const signIn = route({
  method: "post",
  path: "/api/account/sign-in",
  operationId: "signIn",
  tag: "Account",
  summary: "Signs in with e-mail address and password",
  description: "The session that the browser had before ends.",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  request: { body: z.object({ email: anyEmailSchema, password: passwordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("WRONG_CREDENTIALS"),
  handler: async ({ body: { email, password }, address, request, response }, context) => {
    const { access, commands, reads } = context;
    const counters = await accountCounters(email, address, request, context);
    await access.countAttempt({ "sign-in": address, ...counters }, response);
    const settings = await reads.getPasswordSettings({ standard: standardSettings, email });
    const passwordHash = await hashPassword(password, settings);
    const browser = browserBefore(request, context);
    const signedIn = await commands.signIn({ email, passwordHash, ...browser });
    context.outboxRelay.ring();
    const answer = await welcomeBack(signedIn, request, context);
    // An attempt that was right changes nothing that others can count.
    await commands.returnRequests({ counters });
    if (!isStandard(settings)) {
      const renewed = await hashPassword(password, newSettings());
      const { userId } = answer.body;
      await commands.rehashPassword({ userId, currentHash: passwordHash, passwordHash: renewed });
    }
    return answer;
  },
});

const signInByLink = route({
  method: "post",
  path: "/api/account/sign-in-link",
  operationId: "signInByLink",
  tag: "Account",
  summary: "Signs in with a link of an operator",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: signInAgain,
  request: { body: z.object({ token: linkTokenSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_LINK"),
  handler: async ({ body: { token }, address, request, response }, context) => {
    await context.access.countAttempt({ "sign-in": address }, response);
    const browser = browserBefore(request, context);
    const tokenHash = linkHash(token);
    const signedIn = await context.commands.signInByLink({ tokenHash, ...browser });
    context.outboxRelay.ring();
    return welcome(signedIn);
  },
});

const signOut = route({
  method: "post",
  path: "/api/account/sign-out",
  operationId: "signOut",
  tag: "Account",
  summary: "Ends the session",
  auth: "token",
  fromOwnPages: true,
  rateLimit: "account",
  responses: { 200: { description: "It has ended.", schema: nothing, headers: setsCookie } },
  handler: async ({ caller: { sessionId }, request }, { commands, outboxRelay, site }) => {
    await commands.signOut({ sessionId });
    outboxRelay.ring();
    const headers = { "Set-Cookie": clearingCookie(site.isSecure(request)) };
    return { status: 200, body: {}, headers };
  },
});

const changePassword = route({
  method: "put",
  path: "/api/account/password",
  operationId: "changePassword",
  tag: "Account",
  summary: "Changes the password",
  description: "All sessions end, and the answer sets the cookie of a new one.",
  auth: "token",
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: signInAgain,
  request: { body: z.object({ currentPassword: passwordSchema, newPassword: newPasswordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("WRONG_PASSWORD"),
  handler: async ({ body, userId, address, request, response }, context) => {
    const currentHash = await ownHash(body.currentPassword, { userId, address, response }, context);
    const passwordHash = await hashPassword(body.newPassword, newSettings());
    const cookie = await context.commands.changePassword({
      ...{ userId, currentHash, passwordHash },
      ...browserOf(request, context),
    });
    context.outboxRelay.ring();
    return await welcomeBack({ userId, cookie }, request, context);
  },
});

const requestReset = route({
  method: "post",
  path: "/api/account/password-reset",
  operationId: "requestPasswordReset",
  tag: "Account",
  summary: "Asks for a mail with a link to set a password",
  description: "The answer is the same whether the address has an account or not.",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  request: { body: z.object({ email: anyEmailSchema }) },
  responses: { 200: { description: "Asked for.", schema: nothing } },
  handler: async ({ body: { email }, address, response }, { access, commands }) => {
    const counters = { mail: address, "mail-account": mailSubject("reset", email) };
    await access.countAttempt(counters, response);
    await commands.requestPasswordReset({ email });
    return { status: 200, body: {} };
  },
});

const resetPassword = route({
  method: "post",
  path: "/api/account/password-reset/confirm",
  operationId: "resetPassword",
  tag: "Account",
  summary: "Sets the password by the link of a mail, and signs in",
  description: "All other sessions end.",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: signInAgain,
  request: { body: z.object({ token: linkTokenSchema, password: newPasswordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_LINK"),
  handler: async ({ body: { token, password }, address, request, response }, context) => {
    await context.access.countAttempt({ "sign-in": address }, response);
    const tokenHash = linkHash(token);
    const passwordHash = await hashPassword(password, newSettings());
    const browser = browserOf(request, context);
    const signedIn = await context.commands.resetPassword({ tokenHash, passwordHash, ...browser });
    context.outboxRelay.ring();
    return await welcomeBack(signedIn, request, context);
  },
});

const changeEmail = route({
  method: "post",
  path: "/api/account/email",
  operationId: "changeEmail",
  tag: "Account",
  summary: "Asks for another e-mail address",
  description: "It is the account's once the link in the mail to it is followed.",
  auth: "token",
  fromOwnPages: true,
  rateLimit: "account",
  request: { body: z.object({ email: emailSchema, password: passwordSchema }) },
  responses: { 200: { description: "A mail is on its way.", schema: nothing } },
  problems: rejections("WRONG_PASSWORD"),
  handler: async ({ body: { email, password }, userId, address, response }, context) => {
    const counters = { mail: address, "mail-account": mailSubject("change", email) };
    await context.access.countAttempt(counters, response);
    const passwordHash = await ownHash(password, { userId, address, response }, context);
    await context.commands.changeEmail({ userId, email, passwordHash });
    return { status: 200, body: {} };
  },
});

const resendConfirmation = route({
  method: "post",
  path: "/api/account/email/resend",
  operationId: "resendConfirmation",
  tag: "Account",
  summary: "Sends the mail that confirms the e-mail address again",
  auth: "token",
  fromOwnPages: true,
  rateLimit: "account",
  responses: {
    200: { description: "A mail is on its way, if an address waits.", schema: nothing },
  },
  handler: async ({ userId, address, response }, { access, commands }) => {
    await access.countAttempt({ mail: address, "mail-account": userId }, response);
    await commands.resendConfirmation({ userId });
    return { status: 200, body: {} };
  },
});

const confirmEmail = route({
  method: "post",
  path: "/api/account/email/confirm",
  operationId: "confirmEmail",
  tag: "Account",
  summary: "Confirms an e-mail address by the link of a mail",
  description:
    "The link of a sign-up also needs the session's token of that account (as `Authorization: " +
    "Bearer`), or its `password`: another person may have given the address. Otherwise the " +
    "answer is 401 and the link stays good. The account also gets the handle then. If that was " +
    "taken meanwhile, the link stays good and another `handle` can be given. It does not sign in.",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: signInAgain,
  request: {
    body: z.object({
      token: linkTokenSchema,
      handle: handleSchema.nullish(),
      password: passwordSchema.nullish(),
    }),
  },
  responses: {
    200: {
      description: "What is confirmed.",
      schema: z.strictObject({ email: z.string(), handle: z.string() }),
    },
  },
  problems: rejections("INVALID_LINK", "WRONG_CREDENTIALS", "ALREADY_EXISTS"),
  handler: async ({ body, address, request, response }, { access, commands, reads }) => {
    const { token, handle, password } = body;
    const caller =
      tokenOf(request) === undefined
        ? undefined
        : await access.identify("token", request, response);
    const isAttempt = isGiven(password);
    const counted = isAttempt && { "sign-in-account": hashApiKey(token).toString("hex") };
    await access.countAttempt({ "sign-in": address, ...counted }, response);
    const tokenHash = linkHash(token);
    const passwordHash = isAttempt
      ? await hashPassword(
          password,
          await reads.getPasswordSettings({ standard: standardSettings, linkHash: tokenHash }),
        )
      : null;
    const proof = { userId: caller?.userId ?? null, passwordHash };
    const confirmed = await commands.confirmEmail({ tokenHash, handle, ...proof });
    return found(confirmed, rejection("WRONG_CREDENTIALS"));
  },
});

export const accountAccessRoutes = [
  ...[signUpPolicy, signUp, signIn, signInByLink, signOut, changePassword],
  ...[requestReset, resetPassword, changeEmail, resendConfirmation, confirmEmail],
];

interface Welcome {
  status: 200;
  body: { userId: string };
  headers: { "Set-Cookie": string };
}

/** The session's cookie for who got one, or the end of the request. */
export function welcome(
  signedIn: { userId: string | null; cookie: string | null },
  wrong = rejection("WRONG_CREDENTIALS"),
): Welcome {
  const userId = found(signedIn.userId, wrong);
  const cookie = found(signedIn.cookie, wrong);
  const headers = { "Set-Cookie": settingCookie(cookie) };
  return { status: 200, body: { userId }, headers };
}

/** Likewise, and a mark by which the browser is known when the session has ended. */
async function welcomeBack(
  signedIn: Parameters<typeof welcome>[0],
  request: Request,
  { commands, site }: Context,
): Promise<{ status: 200; body: { userId: string }; headers: { "Set-Cookie": string[] } }> {
  const { headers, ...answer } = welcome(signedIn);
  const mark = await commands.getBrowserMark({ userId: answer.body.userId });
  const marking = mark === null ? [] : [markingCookie(mark, site.isSecure(request))];
  return { ...answer, headers: { "Set-Cookie": [headers["Set-Cookie"], ...marking] } };
}

/**
 * By what attempts to sign in to an account are counted: those of browsers that its user has used
 * before by themselves, so that no stranger can use them up; others by account and address, and all
 * of these together.
 */
async function accountCounters(
  email: string,
  address: string,
  request: Request,
  { commands }: Context,
): Promise<{ "sign-in-account": string; "sign-in-strangers"?: string }> {
  const account = emailSubject(email);
  const mark = browserMarkOf(request);
  const isKnown = mark !== undefined && isSame(mark, await commands.getBrowserMark({ email }));
  return isKnown
    ? { "sign-in-account": `${account} known` }
    : { "sign-in-account": `${account} ${address}`, "sign-in-strangers": account };
}

/** Compares hashes, so the time taken says nothing about the text. */
function isSame(given: string, right: string | null): boolean {
  return right !== null && hashApiKey(given).equals(hashApiKey(right));
}

type Attempt = { userId: string; address: string; response: Parameters<Count>[1] };
type Count = Context["access"]["countAttempt"];

/** The hash of what a user gave as the own password. It counts as an attempt to sign in. */
async function ownHash(
  password: string,
  { userId, address, response }: Attempt,
  { access, reads }: Context,
): Promise<string> {
  await access.countAttempt({ "sign-in": address, "sign-in-account": userId }, response);
  const settings = await reads.getPasswordSettings({ standard: standardSettings, userId });
  return await hashPassword(password, settings);
}

/** What a session is made for. */
function browserOf(request: Request, { site }: Context): Browser {
  return { browser: browserName(request), isHostOnly: site.isSecure(request) };
}

interface Browser {
  browser: string | null;
  isHostOnly: boolean;
}

/** Likewise, with the session that the browser had before, which ends. */
export function browserBefore(
  request: Request,
  context: Context,
): Browser & { endedCookieHash: Buffer | null } {
  return {
    ...browserOf(request, context),
    endedCookieHash: sessionCookieHashOf(request),
  };
}

/** What the browser calls itself, if it does. */
function browserName(request: Request): string | null {
  return request.headers["user-agent"]?.slice(0, 300) ?? null;
}

/** An e-mail address as attempts are counted by it: the database takes ASCII's capitals for small. */
function emailSubject(email: string): string {
  const folded = email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return hashApiKey(folded).toString("hex");
}

/** What mails of a kind to an address are counted by: no kind uses up those of another. */
function mailSubject(kind: "sign-up" | "reset" | "change", email: string): string {
  return `${kind} ${emailSubject(email)}`;
}

/** What the database knows of a link, or the end of the request with what is none. */
function linkHash(token: string): Buffer {
  if (!isWellFormedApiKey(token, "jl_")) throw new ProblemError(rejection("INVALID_LINK"));
  return hashApiKey(token);
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
