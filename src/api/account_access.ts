import { z } from "zod";
import { isLikeAccount } from "../accounts/common_passwords.ts";
import { hashPassword, isStandard, newSettings, standardSettings } from "../accounts/passwords.ts";
import { tokenOf } from "../http/authentication.ts";
import { rejection, rejections } from "../http/problems.ts";
import { clearingCookie, settingCookie } from "../http/session_cookie.ts";
import {
  anyEmailSchema,
  confirmedAgeSchema,
  displayNameSchema,
  emailSchema,
  handleSchema,
  linkSchema,
  linkTokenSchema,
  newPasswordSchema,
  passwordSchema,
  signedInSchema,
  signUpPolicySchema,
  waysInSchema,
} from "./account_schemas.ts";
import { found, isGiven, uuidSchema } from "./common.ts";
import { proofOf, signatureSchema } from "./passkey_ceremonies.ts";
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
  countLink,
  hashOfLink,
  isKnownBrowser,
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
    "The e-mail address and the handle are the account's once the link in the mail is confirmed. " +
    "Whether they are taken is said only then, or at once with an `invitation`: the token of an " +
    "operator's link to this address. Without a `handle` the account gets one that nobody has, and " +
    "without a `displayName` it shows the handle; the user can change both. Where " +
    "`GET /api/account/sign-up` has a `minimumAge`, `confirmedAge` must be that or more.",
  auth: "none",
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: {
    body: z
      .object({
        email: emailSchema,
        displayName: displayNameSchema.optional(),
        handle: handleSchema.optional(),
        password: newPasswordSchema,
        invitation: linkTokenSchema.nullish(),
        confirmedAge: confirmedAgeSchema.optional(),
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
  problems: rejections("AGE_NOT_CONFIRMED", "SIGN_UP_CLOSED", "INVALID_LINK", "ALREADY_EXISTS"),
  handler: async ({ body, address, request, response }, context) => {
    const { access, commands, reads } = context;
    await access.countAttempt({ "sign-up": address }, response);
    const { email, displayName, handle, confirmedAge } = body;
    const invitationHash = isGiven(body.invitation) ? hashOfLink(body.invitation) : null;
    // As a sign-in with this address hashes it: one before the confirmation sends its mail again.
    const settings = await reads.getPasswordSettings({ standard: standardSettings, email });
    const passwordHash = await hashPassword(body.password, settings);
    const { userId, emailConfirmed, cookie } = await commands.signUp({
      email,
      displayName,
      handle,
      passwordHash,
      invitationHash,
      confirmedAge,
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
  description:
    "The session that the browser had before ends. An address that was never confirmed is 401 " +
    "like one without an account; with the right password the mail to confirm it is sent again.",
  auth: "none",
  rateLimit: "account",
  request: { body: z.object({ email: anyEmailSchema, password: passwordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("WRONG_CREDENTIALS"),
  handler: async ({ body: { email, password }, address, request, response }, context) => {
    const { access, commands, reads } = context;
    const isKnown = await isKnownBrowser({ email }, request, context);
    const counters = accountCounters(email, address, isKnown);
    const all = isKnown ? counters : { "sign-in": address, ...counters };
    await access.countAttempt(all, response);
    const settings = await reads.getPasswordSettings({ standard: standardSettings, email });
    const passwordHash = await hashPassword(password, settings, { isKnown });
    const browser = browserBefore(request, context);
    const signedIn = await commands.signIn({ email, passwordHash, ...browser, isKnown });
    context.outboxRelay.ring();
    const answer = await withBrowserMark(sessionAnswer(signedIn), request, context);
    // An attempt that was right changes nothing that others can count.
    await commands.returnRequests({ counters });
    if (!isStandard(settings)) {
      const renewed = await hashPassword(password, newSettings(), { isKnown });
      const { userId } = answer.body;
      await commands.rehashPassword({ userId, currentHash: passwordHash, passwordHash: renewed });
    }
    return answer;
  },
});

const link = route({
  method: "post",
  path: "/api/account/link",
  operationId: "getLink",
  tag: "Account",
  summary: "What the link of a mail will do",
  description: "For the page of the link. It changes nothing, and the link stays good.",
  auth: "none",
  rateLimit: "account",
  request: { body: z.object({ token: linkTokenSchema }) },
  responses: { 200: { description: "The link.", schema: linkSchema } },
  problems: rejections("INVALID_LINK"),
  handler: ({ body: { token } }, { reads }) => reads.getLink({ tokenHash: hashOfLink(token) }),
});

const signInByLink = route({
  method: "post",
  path: "/api/account/sign-in-link",
  operationId: "signInByLink",
  tag: "Account",
  summary: "Signs in with a link of an operator",
  auth: "none",
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ token: linkTokenSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_LINK"),
  handler: async ({ body: { token }, address, request, response }, context) => {
    const tokenHash = await countLink(token, { address, response }, context);
    const browser = browserBefore(request, context);
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
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ currentPassword: passwordSchema, newPassword: newPasswordSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("ACCOUNT_FROZEN", "WRONG_PASSWORD"),
  handler: async ({ body, caller, request, response }, context) => {
    const { userId, sessionId } = caller;
    const currentHash = await ownHash(body.currentPassword, { userId, response }, context);
    const passwordHash = await hashPassword(body.newPassword, newSettings(), { isKnown: true });
    const cookie = await context.commands.changePassword({
      userId,
      sessionId,
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
  description:
    "The answer is the same whether the address has an account or not. Where a sign-up was never " +
    "confirmed, the mail to confirm it is sent instead. If the mailbox has had too many mails of " +
    "the kind, the mail comes later.",
  auth: "none",
  rateLimit: "account",
  request: { body: z.object({ email: anyEmailSchema }) },
  responses: { 200: { description: "Asked for.", schema: nothing } },
  handler: async ({ body: { email }, address, request, response }, context) => {
    const { access, commands } = context;
    // Others behind the address use up nothing of a browser in which the user was before.
    if (!(await isKnownBrowser({ email }, request, context))) {
      await access.countAttempt({ mail: address }, response);
    }
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
  description:
    "All other sessions, all passkeys and all API keys end. With `credential` they stay: the JSON " +
    "of what `navigator.credentials.get()` gave for the options of `POST " +
    "/api/account/sign-in-passkey/options`, by a passkey of the account. `waysIn` counts what is " +
    "in force afterwards.",
  auth: "none",
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: {
    body: z.object({
      token: linkTokenSchema,
      password: newPasswordSchema,
      credential: signatureSchema.nullish(),
    }),
  },
  responses: {
    200: {
      description: "A session.",
      schema: signedInSchema.extend({ waysIn: waysInSchema }),
      headers: setsCookie,
    },
  },
  problems: rejections("INVALID_LINK", "INVALID_PASSKEY", "ACCOUNT_FROZEN"),
  handler: async ({ body, address, request, response }, context) => {
    const { token, password, credential } = body;
    const tokenHash = await countLink(token, { address, response }, context);
    const proving = { find: context.reads.getPasskey, site: context.site };
    const proof = isGiven(credential)
      ? found(await proofOf(credential, request, proving), rejection("INVALID_PASSKEY"))
      : {};
    const passwordHash = await hashPassword(password, newSettings(), { isKnown: true });
    const browser = browserOf(request, context);
    const { waysIn, ...signedIn } = await context.commands.resetPassword({
      ...{ tokenHash, passwordHash, ...browser, ...proof },
    });
    context.outboxRelay.ring();
    const answer = await withBrowserMark(sessionAnswer(signedIn), request, context);
    const shown = JSON.parse(waysIn) as z.output<typeof waysInSchema>;
    return { ...answer, body: { ...answer.body, waysIn: shown } };
  },
});

const changeEmail = route({
  method: "post",
  path: "/api/account/email",
  operationId: "changeEmail",
  tag: "Account",
  summary: "Asks for another e-mail address",
  description:
    "It is the account's once the link in the mail to it is confirmed, in a session of the " +
    "account or with its password.",
  auth: "token",
  rateLimit: "account",
  request: { body: z.object({ email: emailSchema, password: passwordSchema }) },
  responses: { 200: { description: "A mail is on its way.", schema: nothing } },
  problems: rejections("ACCOUNT_FROZEN", "WRONG_PASSWORD"),
  handler: async ({ body: { email, password }, address, caller, response }, context) => {
    const { userId, sessionId } = caller;
    await context.access.countAttempt({ "sign-up": address, "mail-account": userId }, response);
    const passwordHash = await ownHash(password, { userId, response }, context);
    await context.commands.changeEmail({ userId, sessionId, email, passwordHash });
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
  rateLimit: "account",
  responses: {
    200: { description: "A mail is on its way, if an address waits.", schema: nothing },
  },
  handler: async ({ address, caller: { userId, sessionId }, response }, { access, commands }) => {
    await access.countAttempt({ "sign-up": address, "mail-account": userId }, response);
    await commands.resendConfirmation({ userId, sessionId });
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
    "It also needs the session's token of the account (as `Authorization: Bearer`), or its " +
    "`password`: another person may have given the address. Otherwise the answer is 401 and the " +
    "link stays good. At the end of a sign-up the account also gets the handle. If that was " +
    "taken meanwhile, the link stays good and another `handle` can be given. It does not sign in.",
  auth: "none",
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
  problems: rejections("INVALID_LINK", "WRONG_CREDENTIALS", "ACCOUNT_FROZEN", "ALREADY_EXISTS"),
  handler: async ({ body, address, request, response }, context) => {
    const { access, commands, reads } = context;
    const { token, handle, password } = body;
    const caller =
      tokenOf(request) === undefined
        ? undefined
        : await access.identify("token", request, response);
    const tokenHash = await countLink(token, { address, response }, context);
    const passwordHash = isGiven(password)
      ? await hashPassword(
          password,
          await reads.getPasswordSettings({ standard: standardSettings, linkHash: tokenHash }),
          { isKnown: true },
        )
      : null;
    const proof = { userId: caller?.userId, sessionId: caller?.sessionId, passwordHash };
    const confirmed = await commands.confirmEmail({ tokenHash, handle, ...proof });
    return found(confirmed, rejection("WRONG_CREDENTIALS"));
  },
});

export const accountAccessRoutes = [
  signUpPolicy,
  signUp,
  signIn,
  link,
  signInByLink,
  signOut,
  changePassword,
  requestReset,
  resetPassword,
  changeEmail,
  resendConfirmation,
  confirmEmail,
];
