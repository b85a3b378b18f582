import { z } from "zod";
import { bytesOf } from "../accounts/passkeys.ts";
import { rejection, rejections } from "../http/problems.ts";
import { lineSchema, signedInSchema } from "./account_schemas.ts";
import { ensure, found, idParams, timestampSchema, uuidSchema } from "./common.ts";
import {
  attestationSchema,
  creationOptions,
  creationOptionsSchema,
  handleOf,
  idOfHandle,
  newPasskeyOf,
  proofOf,
  requestOptions,
  requestOptionsSchema,
  signatureSchema,
} from "./passkey_ceremonies.ts";
import type { KnownPasskey } from "./passkey_ceremonies.ts";
import { route } from "./route.ts";
import {
  browserBefore,
  sessionAnswer,
  setsCookie,
  signInToSee,
  withBrowserMark,
} from "./sign_in.ts";
import { isKnownBrowser, passkeyCounters } from "./sign_in_attempts.ts";

/**
 * Passkeys: a second way into an account. A passkey names its user by itself, so nobody is asked for
 * an address, and no answer depends on one.
 */

const invalid = rejection("INVALID_PASSKEY");

const startPasskey = route({
  method: "post",
  path: "/api/account/passkeys/options",
  operationId: "startPasskey",
  tag: "Account",
  summary: "Begins to add a passkey",
  description:
    "The answer is for `navigator.credentials.create()`. Its challenge is good once, in this " +
    "session, for five minutes. The session must have begun within the last ten minutes.",
  auth: "token",
  rateLimit: "account",
  responses: {
    200: { description: "What to ask the browser for.", schema: creationOptionsSchema },
  },
  problems: rejections("SIGN_IN_AGAIN", "ACCOUNT_FROZEN", "EMAIL_UNCONFIRMED", "INVALID_STATE"),
  handler: async ({ caller: { userId, sessionId }, request }, { commands, site }) => {
    const { challenge, email, displayName, known } = await commands.startPasskey({
      userId,
      sessionId,
    });
    const options = {
      challenge,
      user: { id: handleOf(userId), name: email, displayName },
      known: JSON.parse(known) as KnownPasskey[],
    };
    return { status: 200, body: creationOptions({ origin: site.originFor(request) }, options) };
  },
});

const addPasskey = route({
  method: "post",
  path: "/api/account/passkeys",
  operationId: "addPasskey",
  tag: "Account",
  summary: "Adds a passkey",
  description:
    "`credential` is the JSON of what `navigator.credentials.create()` gave. An account has at " +
    "most 20 passkeys. The session must still have begun within the last ten minutes. A mail " +
    "reports the new one.",
  auth: "token",
  rateLimit: "account",
  whenOutcomeUnknown: "look at the list",
  request: {
    body: z.object({
      name: lineSchema(100),
      credential: attestationSchema,
    }),
  },
  responses: {
    201: {
      description: "The passkey.",
      schema: z.strictObject({ id: uuidSchema, name: z.string() }),
    },
  },
  problems: rejections(
    ...(["INVALID_PASSKEY", "SIGN_IN_AGAIN", "ACCOUNT_FROZEN", "EMAIL_UNCONFIRMED"] as const),
    ...(["INVALID_STATE", "ALREADY_EXISTS"] as const),
  ),
  handler: async ({ body, caller: { userId, sessionId }, request }, { commands, site }) => {
    const { name, credential } = body;
    const passkey = found(await newPasskeyOf(credential, request, { site }), invalid);
    return {
      status: 201,
      text: await commands.addPasskey({ userId, sessionId, name, ...passkey }),
    };
  },
});

const passkeySchema = z
  .strictObject({
    id: uuidSchema,
    name: z.string(),
    createdAt: timestampSchema,
    lastUsedAt: timestampSchema.nullable().meta({ description: "the last sign-in; null: never" }),
  })
  .meta({ id: "Passkey" });

const passkeys = route({
  method: "get",
  path: "/api/account/passkeys",
  operationId: "listPasskeys",
  tag: "Account",
  summary: "The passkeys, newest first",
  auth: "token",
  rateLimit: "read",
  responses: {
    200: { description: "The passkeys.", schema: z.strictObject({ data: z.array(passkeySchema) }) },
  },
  handler: ({ userId }, { reads }) => reads.listPasskeys({ userId }),
});

const removePasskey = route({
  method: "delete",
  path: "/api/account/passkeys/:id",
  operationId: "removePasskey",
  tag: "Account",
  summary: "Removes a passkey",
  description:
    "The session must have begun within the last ten minutes. The last passkey of an account " +
    "without a password stays. A mail reports the removal.",
  auth: "token",
  rateLimit: "account",
  whenOutcomeUnknown: "look at the list",
  request: { params: idParams },
  responses: {
    200: { description: "It is removed.", schema: z.strictObject({ id: uuidSchema }) },
  },
  problems: rejections("SIGN_IN_AGAIN", "ACCOUNT_FROZEN", "NOT_FOUND", "INVALID_STATE"),
  handler: async ({ params: { id }, caller: { userId, sessionId } }, { commands }) => {
    const isRemoved = await commands.removePasskey({ userId, sessionId, passkeyId: id });
    ensure(isRemoved, rejection("NOT_FOUND"));
    return { status: 200, body: { id } };
  },
});

const startPasskeySignIn = route({
  method: "post",
  path: "/api/account/sign-in-passkey/options",
  operationId: "startPasskeySignIn",
  tag: "Account",
  summary: "Begins to sign in with a passkey",
  description:
    "The answer is for `navigator.credentials.get()`. Its challenge is good once, for five minutes.",
  auth: "none",
  rateLimit: "account",
  responses: { 200: { description: "What to ask the browser for.", schema: requestOptionsSchema } },
  handler: async ({ request }, { commands, site }) => {
    const challenge = await commands.startPasskeySignIn();
    return { status: 200, body: requestOptions({ origin: site.originFor(request) }, challenge) };
  },
});

const signInByPasskey = route({
  method: "post",
  path: "/api/account/sign-in-passkey",
  operationId: "signInByPasskey",
  tag: "Account",
  summary: "Signs in with a passkey",
  description:
    "`credential` is the JSON of what `navigator.credentials.get()` gave. The session that the " +
    "browser had before ends.",
  auth: "none",
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ credential: signatureSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_PASSKEY"),
  handler: async ({ body: { credential }, address, request, response }, context) => {
    const userId = idOfHandle(credential.response.userHandle);
    const named = userId !== undefined && { userId, credentialId: bytesOf(credential.id) };
    const isKnown = named !== false && (await isKnownBrowser(named, request, context));
    const counters = passkeyCounters(credential, address, isKnown);
    await context.access.countAttempt(counters, response);
    const proving = { find: context.reads.getPasskey, site: context.site };
    const proof = found(await proofOf(credential, request, proving), invalid);
    const browser = browserBefore(request, context);
    const signedIn = await context.commands.signInByPasskey({ ...proof, ...browser, isKnown });
    context.outboxRelay.ring();
    return await withBrowserMark(sessionAnswer(signedIn, invalid), request, context);
  },
});

export const accountPasskeyRoutes = [
  startPasskey,
  addPasskey,
  passkeys,
  removePasskey,
  startPasskeySignIn,
  signInByPasskey,
];
