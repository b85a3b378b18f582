import { z } from "zod";
import { isLikeAccount } from "../accounts/common_passwords.ts";
import { hashPassword, isStandard, newSettings, standardSettings } from "../accounts/passwords.ts";
import { tokenOf } from "../http/authentication.ts";
import { rejection, rejections } from "../http/problems.ts";
import { clearingCookie, settingCookie } from "../http/session_cookie.ts";
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
import { found, isGiven, uuidSchema } from "./common.ts";
import { route } from "./route.ts";
import {
  browserBefore,
  browserOf,
  sessionAnswer,
  setsCookie,
  signInToSee,
  withBrowserMark,
} from "./sign_in.ts";
import {
  accountCounters,
  hashOfLink,
  linkSubject,
  mailSubject,
  ownHash,
} from "./sign_in_attempts.ts";

/**
 * Ways into an account of the website, and out of it. No answer shows whether an address has an
 * account: answers, and the work for them, are the same.
 */

const nothing = z.strictObject({});

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
  whenOutcomeUnknown: signInToSee,
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
    const invitationHash = isGiven(body.invitation) ? hashOfLink(body.invitation) : null;
    const passwordHash = await hashPassword(body.password, newSettings());
    const { userId, emailConfirmed, cookie } = await commands.signUp({
      email,
      displayName,
      handle,
      passwordHash,
      invitationHash,
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
    const answer = await withBrowserMark(sessionAnswer(signedIn), request, context);
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
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ token: linkTokenSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_LINK"),
  handler: async ({ body: { token }, address, request, response }, context) => {
    await context.access.countAttempt({ "sign-in": address }, response);
    const browser = browserBefore(request, context);
    const tokenHash = hashOfLink(token);
    const signedIn = await context.commands.signInByLink({ tokenHash, ...browser });
    context.outboxRelay.ring();
    return sessionAnswer(signedIn);
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
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ currentPassword: passwordSchema, newPassword: newPasswordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("WRONG_PASSWORD"),
  handler: async ({ body, userId, address, request, response }, context) => {
    const currentHash = await ownHash(body.currentPassword, { userId, address, response }, context);
    const passwordHash = await hashPassword(body.newPassword, newSettings());
    const cookie = await context.commands.changePassword({
      userId,
      currentHash,
      passwordHash,
      ...browserOf(request, context),
    });
    context.outboxRelay.ring();
    return await withBrowserMark(sessionAnswer({ userId, cookie }), request, context);
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
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ token: linkTokenSchema, password: newPasswordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_LINK"),
  handler: async ({ body: { token, password }, address, request, response }, context) => {
    await context.access.countAttempt({ "sign-in": address }, response);
    const tokenHash = hashOfLink(token);
    const passwordHash = await hashPassword(password, newSettings());
    const browser = browserOf(request, context);
    const signedIn = await context.commands.resetPassword({ tokenHash, passwordHash, ...browser });
    context.outboxRelay.ring();
    return await withBrowserMark(sessionAnswer(signedIn), request, context);
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
  whenOutcomeUnknown: signInToSee,
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
    const counted = isAttempt && { "sign-in-account": linkSubject(token) };
    await access.countAttempt({ "sign-in": address, ...counted }, response);
    const tokenHash = hashOfLink(token);
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
  signUpPolicy,
  signUp,
  signIn,
  signInByLink,
  signOut,
  changePassword,
  requestReset,
  resetPassword,
  changeEmail,
  resendConfirmation,
  confirmEmail,
];
