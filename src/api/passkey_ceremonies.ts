import type { Request } from "express";
import { z } from "zod";
import {
  algorithms,
  bytesOf,
  checkNewPasskey,
  checkPasskeySignature,
  relyingPartyId,
} from "../accounts/passkeys.ts";
import type { NewPasskey, PasskeySignature, RelyingParty } from "../accounts/passkeys.ts";
import { formatUuid } from "./common.ts";
import type { Context } from "./context.ts";

/** What goes to `navigator.credentials` and what comes from it, in the JSON of WebAuthn. */

/** As long as a challenge is good. */
const TIMEOUT_MS = 300_000;
const SITE_NAME = "pgmarkets";

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

/** A passkey that a user has, as WebAuthn lists it. */
export type KnownPasskey = z.output<typeof knownPasskeySchema>;

/** What `navigator.credentials.create()` is given. */
export const creationOptionsSchema = z
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

interface NewPasskeyOptions {
  challenge: Buffer;
  /** The id is a handle of {@link handleOf}. */
  user: { id: string; name: string; displayName: string };
  /** Devices that have one of these make no other. */
  known: KnownPasskey[];
}

/** The options for a new passkey of this user. */
export function creationOptions(
  site: RelyingParty,
  { challenge, user, known }: NewPasskeyOptions,
): z.output<typeof creationOptionsSchema> {
  return {
    rp: { id: relyingPartyId(site), name: SITE_NAME },
    user,
    challenge: challenge.toString("base64url"),
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: TIMEOUT_MS,
    attestation: "none",
    excludeCredentials: known,
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
  };
}

/** A new passkey: the JSON of `navigator.credentials.create()`. */
export const attestationSchema = z.object({
  id: credentialIdSchema,
  rawId: credentialIdSchema,
  type: publicKeyTypeSchema,
  response: z.object({
    clientDataJSON: base64urlSchema(8000),
    attestationObject: base64urlSchema(8000),
    transports: z.array(z.string()).max(20).optional(),
  }),
});

/** The passkey that a browser has made. Undefined: it is not one of ours. */
export async function newPasskeyOf(
  credential: z.output<typeof attestationSchema>,
  request: Request,
  { site }: Pick<Context, "site">,
): Promise<NewPasskey | undefined> {
  const { transports = [], ...response } = credential.response;
  return await checkNewPasskey(
    { ...credential, response: { ...response, transports }, clientExtensionResults: {} },
    { origin: site.originFor(request) },
  );
}

/** What `navigator.credentials.get()` is given. */
export const requestOptionsSchema = z
  .strictObject({
    rpId: z.string(),
    challenge: z.string(),
    timeout: z.int(),
    userVerification: z.literal("required"),
  })
  .meta({ id: "PasskeyRequestOptions" });

/** The options for a signature of any passkey. */
export function requestOptions(
  site: RelyingParty,
  challenge: Buffer,
): z.output<typeof requestOptionsSchema> {
  return {
    rpId: relyingPartyId(site),
    challenge: challenge.toString("base64url"),
    timeout: TIMEOUT_MS,
    userVerification: "required",
  };
}

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

/** A signature that is right. */
interface PasskeyProof extends PasskeySignature {
  credentialId: Buffer;
  userHandle: string;
}

/** Finds a passkey by its id: one of a user, or one of staff. */
type PasskeyFinder = (passkey: {
  credentialId: Buffer;
}) => Promise<{ publicKey: Buffer } | undefined>;

/** What a signature proves, if it is one of a passkey that is found. */
export async function proofOf(
  credential: z.output<typeof signatureSchema>,
  request: Request,
  { find, site }: { find: PasskeyFinder } & Pick<Context, "site">,
): Promise<PasskeyProof | undefined> {
  const credentialId = bytesOf(credential.id);
  const userHandle = idOfHandle(credential.response.userHandle);
  const known = await find({ credentialId });
  if (known === undefined || userHandle === undefined) return undefined;
  const signature = await checkPasskeySignature(
    { ...credential, clientExtensionResults: {} },
    known.publicKey,
    { origin: site.originFor(request) },
  );
  return signature && { ...signature, credentialId, userHandle };
}

/** A user or a member of staff as passkeys know one: the bytes of the id. */
export function handleOf(id: string): string {
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

/** The id that a passkey names, if it is one. */
export function idOfHandle(handle: string): string | undefined {
  const bytes = bytesOf(handle);
  return bytes.length === 16 ? formatUuid(bytes) : undefined;
}
