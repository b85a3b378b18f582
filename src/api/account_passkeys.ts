import type { Request } from "express";
import { z } from "zod";
import {
  algorithms,
  bytesOf,
  checkNewPasskey,
  checkPasskeySignature,
  relyingPartyId,
} from "../accounts/passkeys.ts";
import type { PasskeySignature } from "../accounts/passkeys.ts";
import { rejection, rejections } from "../http/problems.ts";
import { lineSchema, signedInSchema } from "./account_schemas.ts";
import { ensure, formatUuid, found, idParams, timestampSchema, uuidSchema } from "./common.ts";
import type { Context } from "./context.ts";
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
 * Passkeys: a second way into an account. What goes to and comes from `navigator.credentials` is in
 * the JSON of WebAuthn. A passkey names its user by itself, so nobody is asked for an address, and
 * no answer depends on one.
 */

/** As long as a challenge is good. */
const TIMEOUT_MS = 300_000;
const SITE_NAME = "pgmarkets";

const invalid = rejection("INVALID_PASSKEY");

/** Bytes in base64url. */
function base64urlSchema(most: number) {
  return z
    .string()
    .refine((text) => /^[A-Za-z0-9_-]+$/.test(text), "must be base64url")
    .refine((text) => text.length <= most, `must have at most ${most} characters`)
    .meta({ description: "base64url" });
}

const credentialIdSchema = base64urlSchema(1364);
const publicKeyTypeSchema = z.literal("public-key");

const knownPasskeySchema = z.strictObject({
  id: z.string(),
  type: publicKeyTypeSchema,
  transports: z.array(z.string()),
});

const creationOptionsSchema = z
  .strictObject({
    rp: z.strictObject({ id: z.string(), name: z.string() }),
    user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
    challenge: z.string(),
    pubKeyCredParams: z.array(z.strictObject({ type: publicKeyTypeSchema, alg: z.int() })),
    timeout: z.int(),
    attestation: z.literal("none"),
    excludeCredentials: z.array(knownPasskeySchema),
    authenticatorSelection: z.strictObject({
      residentKey: z.literal("required"),
      requireResidentKey: z.literal(true),
      userVerification: z.literal("required"),
    }),
  })
  .meta({ id: "PasskeyCreationOptions" });

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
  fromOwnPages: true,
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
    const id = relyingPartyId({ origin: site.originFor(request) });
    return {
      status: 200,
      body: {
        rp: { id, name: SITE_NAME },
        user: { id: handleOf(userId), name: email, displayName },
        challenge: challenge.toString("base64url"),
        pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key" as const, alg })),
        timeout: TIMEOUT_MS,
        attestation: "none",
        excludeCredentials: JSON.parse(known) as z.output<typeof knownPasskeySchema>[],
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification: "required",
        },
      },
    };
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
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: "look at the list",
  request: {
    body: z.object({
      name: lineSchema(100),
      credential: z.object({
        id: credentialIdSchema,
        rawId: credentialIdSchema,
        type: publicKeyTypeSchema,
        response: z.object({
          clientDataJSON: base64urlSchema(8000),
          attestationObject: base64urlSchema(8000),
          transports: z.array(z.string()).max(20).optional(),
        }),
      }),
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
    const { transports = [], ...response } = credential.response;
    const made = await checkNewPasskey(
      { ...credential, response: { ...response, transports }, clientExtensionResults: {} },
      { origin: site.originFor(request) },
    );
    const passkey = found(made, invalid);
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
  fromOwnPages: true,
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

const requestOptionsSchema = z
  .strictObject({
    rpId: z.string(),
    challenge: z.string(),
    timeout: z.int(),
    userVerification: z.literal("required"),
  })
  .meta({ id: "PasskeyRequestOptions" });

const startPasskeySignIn = route({
  method: "post",
  path: "/api/account/sign-in-passkey/options",
  operationId: "startPasskeySignIn",
  tag: "Account",
  summary: "Begins to sign in with a passkey",
  description:
    "The answer is for `navigator.credentials.get()`. Its challenge is good once, for five minutes.",
  auth: "none",
  fromOwnPages: true,
  rateLimit: "account",
  responses: { 200: { description: "What to ask the browser for.", schema: requestOptionsSchema } },
  handler: async ({ request }, { commands, site }) => {
    const challenge = await commands.startPasskeySignIn();
    return {
      status: 200,
      body: {
        rpId: relyingPartyId({ origin: site.originFor(request) }),
        challenge: challenge.toString("base64url"),
        timeout: TIMEOUT_MS,
        userVerification: "required",
      },
    };
  },
});

/** What a passkey has signed: the JSON of `navigator.credentials.get()`. */
export const signatureSchema = z.object({
  id: credentialIdSchema,
  rawId: credentialIdSchema,
  type: publicKeyTypeSchema,
  response: z.object({
    clientDataJSON: base64urlSchema(8000),
    authenticatorData: base64urlSchema(8000),
    signature: base64urlSchema(4000),
    userHandle: base64urlSchema(100),
  }),
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
  fromOwnPages: true,
  rateLimit: "account",
  whenOutcomeUnknown: signInToSee,
  request: { body: z.object({ credential: signatureSchema }) },
  responses: {
    200: { description: "A session.", schema: signedInSchema, headers: setsCookie },
  },
  problems: rejections("INVALID_PASSKEY"),
  handler: async ({ body: { credential }, address, request, response }, context) => {
    const namedId = userIdOf(credential.response.userHandle);
    const isKnown =
      namedId !== undefined && (await isKnownBrowser({ userId: namedId }, request, context));
    const counters = passkeyCounters(credential, address, isKnown);
    await context.access.countAttempt(counters, response);
    const proof = found(await proofOf(credential, request, context), invalid);
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

interface PasskeyProof extends PasskeySignature {
  credentialId: Buffer;
  userHandle: string;
}

/** What a signature proves, if it is one of a passkey that we know. */
export async function proofOf(
  credential: z.output<typeof signatureSchema>,
  request: Request,
  { reads, site }: Context,
): Promise<PasskeyProof | undefined> {
  const credentialId = bytesOf(credential.id);
  const userHandle = userIdOf(credential.response.userHandle);
  const known = await reads.getPasskey({ credentialId });
  if (known === undefined || userHandle === undefined) return undefined;
  const signature = await checkPasskeySignature(
    { ...credential, clientExtensionResults: {} },
    known.publicKey,
    { origin: site.originFor(request) },
  );
  return signature && { ...signature, credentialId, userHandle };
}

/** A user as passkeys know one: the bytes of the id. */
function handleOf(userId: string): string {
  return Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
}

/** The id of the user whom a passkey names, if it is one. */
function userIdOf(handle: string): string | undefined {
  const bytes = bytesOf(handle);
  return bytes.length === 16 ? formatUuid(bytes) : undefined;
}
