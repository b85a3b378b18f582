import { isIP } from "node:net";
import { z } from "zod";
import { rejection, rejections } from "../http/problems.ts";
import { lineSchema } from "./account_schemas.ts";
import { ensure, found, idParams, momentSchema, timestampSchema, uuidSchema } from "./common.ts";
import { route } from "./route.ts";

/** The API keys of a user: what they may do, until when and from where. */

const scopeSchema = z.enum(["read", "trade"]);
const scopesSchema = z
  .array(scopeSchema)
  .min(1)
  .max(2)
  .refine((scopes) => new Set(scopes).size === scopes.length, "must be different scopes");

const keySchema = z
  .strictObject({
    id: uuidSchema,
    name: z.string(),
    scopes: z.array(scopeSchema),
    createdAt: timestampSchema,
    expiresAt: timestampSchema.nullable().meta({ description: "null: never" }),
    allowedAddresses: z
      .array(z.string())
      .nullable()
      .meta({ description: "addresses and networks; null: all" }),
    lastUsedAt: timestampSchema.nullable().meta({ description: "to the minute; null: never" }),
    lastUsedAddress: z.string().nullable().meta({ description: "from where, at `lastUsedAt`" }),
    replacedBy: uuidSchema
      .nullable()
      .meta({ description: "the key of its rotation; it is valid beside that until it expires" }),
  })
  .meta({ id: "ApiKey" });

const keys = route({
  method: "get",
  path: "/api/account/keys",
  operationId: "listKeys",
  tag: "Account",
  summary: "The API keys in force, newest first",
  auth: "token",
  rateLimit: "read",
  responses: {
    200: { description: "The keys.", schema: z.strictObject({ data: z.array(keySchema) }) },
  },
  handler: ({ userId }, { reads }) => reads.listKeys({ userId }),
});

/** An address, or a network: PostgreSQL checks that its host part is zero. */
const networkSchema = z.string().refine((text) => {
  const [, address = "", length = "0"] = /^([^/]{1,45})(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && !address.includes("%") && Number(length) <= (version === 4 ? 32 : 128);
}, "must be an address or a network, such as 203.0.113.7 or 10.0.0.0/8");

const createKey = route({
  method: "post",
  path: "/api/account/keys",
  operationId: "createKey",
  tag: "Account",
  summary: "Makes an API key",
  description:
    "The answer is the only one that shows the key. At most 50 keys are in force. Elsewhere than " +
    "at its addresses, and once it has expired, a key gets 401.",
  auth: "token",
  rateLimit: "account",
  whenOutcomeUnknown: "look at the list, and revoke a key that you do not have",
  request: {
    body: z.object({
      name: lineSchema(100),
      scopes: scopesSchema.default(["read", "trade"]).meta({
        description: "`read`: GET, previews and streams; `trade`: all commands",
      }),
      expiresAt: momentSchema.nullish().meta({ description: "null: never" }),
      allowedAddresses: z.array(networkSchema).min(1).max(20).nullish().meta({
        description: "from where it is valid: IPv4 and IPv6, addresses and networks; null: all",
      }),
    }),
  },
  responses: {
    201: {
      description: "The key.",
      schema: z.strictObject({ id: uuidSchema, name: z.string(), key: z.string() }),
    },
  },
  problems: rejections("ACCOUNT_FROZEN", "EMAIL_UNCONFIRMED", "INVALID_STATE"),
  handler: async ({ body, caller: { userId, sessionId } }, { commands }) => ({
    status: 201,
    text: await commands.createKey({ userId, sessionId, ...body }),
  }),
});

const OVERLAP_SECONDS = { least: 300, usual: 86_400, most: 604_800 };
const overlapMessage = `must be 0, or from ${OVERLAP_SECONDS.least} to ${OVERLAP_SECONDS.most}`;

const rotateKey = route({
  method: "post",
  path: "/api/account/keys/:id/rotate",
  operationId: "rotateKey",
  tag: "Account",
  summary: "Makes an API key in the place of another",
  description:
    "It has the name, the scopes, the addresses and, if it expires, as long a life. Both are valid " +
    "during the overlap; with 0 the old one is revoked. A key is rotated once. The answer is the " +
    "only one that shows the new key.",
  auth: "token",
  rateLimit: "account",
  whenOutcomeUnknown: "look at the list, and revoke a key that you do not have",
  request: {
    params: idParams,
    body: z.object({
      overlapSeconds: z
        .int()
        .refine(
          (seconds) =>
            seconds === 0 || (seconds >= OVERLAP_SECONDS.least && seconds <= OVERLAP_SECONDS.most),
          overlapMessage,
        )
        .default(OVERLAP_SECONDS.usual)
        .meta({
          description: "for how long the old key stays valid at most; 0, or 5 min to 7 days",
        }),
    }),
  },
  responses: {
    201: {
      description: "The new key.",
      schema: z.strictObject({
        id: uuidSchema,
        name: z.string(),
        key: z.string(),
        oldKeyEndsAt: timestampSchema,
      }),
    },
  },
  problems: rejections("NOT_FOUND", "ACCOUNT_FROZEN", "EMAIL_UNCONFIRMED", "INVALID_STATE"),
  handler: async ({ params: { id }, body: { overlapSeconds }, caller }, context) => {
    const { userId, sessionId } = caller;
    const { commands, outboxRelay } = context;
    const made = await commands.rotateKey({ userId, sessionId, keyId: id, overlapSeconds });
    outboxRelay.ring();
    return { status: 201, text: found(made, rejection("NOT_FOUND")) };
  },
});

const revokeKey = route({
  method: "delete",
  path: "/api/account/keys/:id",
  operationId: "revokeKey",
  tag: "Account",
  summary: "Revokes an API key",
  description: "It stops working within a second, and its streams end.",
  auth: "token",
  rateLimit: "account",
  request: { params: idParams },
  responses: {
    200: { description: "It is revoked.", schema: z.strictObject({ id: uuidSchema }) },
  },
  problems: rejections("NOT_FOUND"),
  handler: async ({ params: { id }, caller }, { commands, outboxRelay }) => {
    const { userId, sessionId } = caller;
    const isRevoked = await commands.revokeKey({ userId, sessionId, keyId: id });
    outboxRelay.ring();
    ensure(isRevoked, rejection("NOT_FOUND"));
    return { status: 200, body: { id } };
  },
});

const revokeKeys = route({
  method: "delete",
  path: "/api/account/keys",
  operationId: "revokeKeys",
  tag: "Account",
  summary: "Revokes all API keys",
  description: "They stop working within a second, and their streams end.",
  auth: "token",
  rateLimit: "account",
  responses: {
    200: {
      description: "How many were revoked.",
      schema: z.strictObject({ revoked: z.int().min(0) }),
    },
  },
  handler: async ({ caller: { userId, sessionId } }, { commands, outboxRelay }) => {
    const revoked = await commands.revokeKeys({ userId, sessionId });
    outboxRelay.ring();
    return { status: 200, body: { revoked } };
  },
});

export const keyRoutes = [keys, createKey, rotateKey, revokeKey, revokeKeys];
