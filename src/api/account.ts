import { z } from "zod";
import { rejection, rejections } from "../http/problems.ts";
import { route } from "./route.ts";
import {
  confirmedAgeSchema,
  displayNameSchema,
  handleSchema,
  limitsSchema,
  lineSchema,
  ownProfileSchema,
  realityCheckMinutesSchema,
  realityCheckSchema,
} from "./account_schemas.ts";
import { ensure, found, idParams, momentSchema, timestampSchema, uuidSchema } from "./common.ts";

/** What users do with their accounts on the website. */

const account = route({
  method: "get",
  path: "/api/account",
  operationId: "getOwnProfile",
  tag: "Account",
  summary: "The account, with limits and self-exclusion",
  auth: "token",
  rateLimit: "read",
  responses: { 200: { description: "The account.", schema: ownProfileSchema } },
  handler: ({ userId }, { reads }) => reads.getOwnProfile({ userId }),
});

const MOST_OF_URL = 2000;
/** Of a name in the DNS. */
const MOST_OF_HOST = 253;

/**
 * An address without a user, and with a host that is short: to parse a host takes time by the square
 * of its length.
 */
const HTTPS = /^https:\/\/[^\s"'<>\\`/?#@]{1,300}(?:[/?#][^\s"'<>\\`]*)?$/;

/** As it is kept: in normal form, so without spaces and quotes. That may be longer than what is sent. */
const avatarUrlSchema = lineSchema(MOST_OF_URL)
  .transform((text, context) => {
    const url = HTTPS.test(text) ? URL.parse(text) : null;
    const isFit = url !== null && url.hostname.length <= MOST_OF_HOST && !/["'<>]/.test(url.href);
    if (!isFit) context.addIssue("must be an https:// address");
    else if (url.href.length > MOST_OF_URL) {
      context.addIssue(`must have at most ${MOST_OF_URL} characters, with %-escapes`);
    }
    return url?.href ?? text;
  })
  .meta({
    description: `an https:// address of at most ${MOST_OF_URL} characters, with %-escapes`,
  });

const changeProfile = route({
  method: "patch",
  path: "/api/account/profile",
  operationId: "changeOwnProfile",
  tag: "Account",
  summary: "Changes what is given of the profile",
  description: "`avatarUrl: null` removes the picture.",
  auth: "token",
  rateLimit: "account",
  request: {
    body: z.object({
      displayName: displayNameSchema.optional(),
      handle: handleSchema.optional(),
      avatarUrl: avatarUrlSchema.nullable().optional(),
      private: z.boolean().optional(),
      leaderboardOptOut: z.boolean().optional(),
    }),
  },
  responses: { 200: { description: "The account.", schema: ownProfileSchema } },
  problems: rejections("ACCOUNT_FROZEN", "ALREADY_EXISTS"),
  handler: ({ body: { avatarUrl, ...others }, caller: { userId, sessionId } }, { commands }) =>
    commands.changeOwnProfile({
      userId,
      sessionId,
      ...others,
      avatarUrl: avatarUrl === null ? "" : avatarUrl,
    }),
});

const limitCentsSchema = z.int().min(0).max(1_000_000_000_000_000).nullable();

const setLimits = route({
  method: "put",
  path: "/api/account/limits",
  operationId: "setOwnLimits",
  tag: "Account",
  summary: "Sets the loss limits, and marks them as reviewed",
  description:
    "Null is no limit. Lowering takes effect at once, raising and removing after 24 hours. While " +
    "the account is frozen limits can only be lowered.",
  auth: "token",
  rateLimit: "account",
  request: {
    body: z.object({
      dayCents: limitCentsSchema,
      weekCents: limitCentsSchema,
      monthCents: limitCentsSchema,
    }),
  },
  responses: { 200: { description: "The limits.", schema: limitsSchema } },
  problems: rejections("ACCOUNT_FROZEN"),
  handler: ({ body: { dayCents, weekCents, monthCents }, caller }, { commands, turns }) => {
    const { userId, sessionId } = caller;
    const limits = { userId, sessionId, dayCents, weekCents, monthCents };
    return commands.setOwnLimits(limits, turns.command(userId));
  },
});

const confirmAge = route({
  method: "post",
  path: "/api/account/age",
  operationId: "confirmOwnAge",
  tag: "Account",
  summary: "Confirms that the user has reached the minimum age",
  description:
    "For who signed up before the exchange asked for it: `ageToConfirm` of the account. The time " +
    "and the age that was asked are kept. Confirming it again changes nothing.",
  auth: "token",
  rateLimit: "account",
  request: { body: z.object({ confirmedAge: confirmedAgeSchema }) },
  responses: { 200: { description: "The account.", schema: ownProfileSchema } },
  problems: rejections("AGE_NOT_CONFIRMED"),
  handler: ({ body: { confirmedAge }, caller: { userId, sessionId } }, { commands, turns }) =>
    commands.confirmOwnAge({ userId, sessionId, confirmedAge }, turns.command(userId)),
});

const answersReminder = {
  200: {
    description: "When the next reminder is due.",
    schema: realityCheckSchema.pick({ everyMinutes: true, dueInMs: true }),
  },
};

const realityCheck = route({
  method: "get",
  path: "/api/account/reality-check",
  operationId: "getRealityCheck",
  tag: "Account",
  summary: "How long the visit has lasted, and what it brought",
  description:
    "A visit is the time in which pages of the session were open without a break of more than 30 " +
    "minutes. The figures are those of the whole account since it began, also by API keys.",
  auth: "token",
  ...{ rateLimit: "read", isLong: true },
  responses: { 200: { description: "The reality check.", schema: realityCheckSchema } },
  handler: async ({ userId, caller: { sessionId } }, { reads }) => {
    const check = await reads.getRealityCheck({ userId, sessionId });
    return found(check, rejection("UNAUTHORIZED"));
  },
});

const setRealityCheck = route({
  method: "put",
  path: "/api/account/reality-check",
  operationId: "setRealityCheck",
  tag: "Account",
  summary: "Sets after how many minutes the website reminds of them",
  description: "The time begins anew in all sessions.",
  auth: "token",
  rateLimit: "account",
  request: { body: z.object({ everyMinutes: realityCheckMinutesSchema }) },
  responses: answersReminder,
  handler: ({ body: { everyMinutes }, caller: { userId, sessionId } }, { commands }) =>
    commands.setRealityCheck({ userId, sessionId, everyMinutes }),
});

const goOn = route({
  method: "post",
  path: "/api/account/reality-check",
  operationId: "goOnAfterRealityCheck",
  tag: "Account",
  summary: "Says that the reminder was seen",
  description: "The time to the next one begins.",
  auth: "token",
  rateLimit: "account",
  responses: answersReminder,
  handler: ({ caller: { userId, sessionId } }, { commands }) =>
    commands.goOnAfterRealityCheck({ userId, sessionId }),
});

const exclude = route({
  method: "post",
  path: "/api/account/self-exclusion",
  operationId: "excludeSelf",
  tag: "Account",
  summary: "Excludes the user from trading",
  description:
    "Until a time, or for good with `until: null`. It cannot be shortened. All open orders are " +
    "cancelled.",
  auth: "token",
  rateLimit: "account",
  request: { body: z.object({ until: momentSchema.nullable() }) },
  responses: {
    200: {
      description: "What holds now.",
      schema: z.strictObject({
        until: timestampSchema.nullable(),
        cancelledOrders: z.int().min(0),
      }),
    },
  },
  handler: async ({ body: { until }, caller }, { commands, outboxRelay, turns }) => {
    const { userId, sessionId } = caller;
    const answer = await commands.excludeSelf({ userId, sessionId, until }, turns.command(userId));
    outboxRelay.ring();
    return answer;
  },
});

const sessions = route({
  method: "get",
  path: "/api/account/sessions",
  operationId: "listSessions",
  tag: "Account",
  summary: "The browsers that are signed in, newest first",
  auth: "token",
  rateLimit: "read",
  responses: {
    200: {
      description: "The sessions.",
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              id: uuidSchema,
              browser: z.string().nullable().meta({ description: "as it calls itself" }),
              createdAt: timestampSchema,
              lastSeenAt: timestampSchema.nullable(),
              expiresAt: timestampSchema,
              current: z.boolean().meta({ description: "the session that asks" }),
            })
            .meta({ id: "Session" }),
        ),
      }),
    },
  },
  handler: ({ userId, caller: { sessionId } }, { reads }) =>
    reads.listSessions({ userId, sessionId }),
});

const endedSchema = z.strictObject({ ended: z.int().min(0) });

const endSession = route({
  method: "delete",
  path: "/api/account/sessions/:id",
  operationId: "endSession",
  tag: "Account",
  summary: "Signs a browser out",
  auth: "token",
  rateLimit: "account",
  request: { params: idParams },
  responses: { 200: { description: "How many ended: one.", schema: endedSchema } },
  problems: rejections("NOT_FOUND"),
  handler: async ({ params: { id }, caller }, { commands, outboxRelay }) => {
    const { userId, sessionId } = caller;
    const ended = await commands.endSession({ userId, sessionId, endedId: id });
    outboxRelay.ring();
    ensure(ended > 0, rejection("NOT_FOUND"));
    return { status: 200, body: { ended } };
  },
});

const endOtherSessions = route({
  method: "delete",
  path: "/api/account/sessions",
  operationId: "endOtherSessions",
  tag: "Account",
  summary: "Signs all other browsers out",
  auth: "token",
  rateLimit: "account",
  responses: { 200: { description: "How many ended.", schema: endedSchema } },
  handler: async ({ userId, caller: { sessionId } }, { commands, outboxRelay }) => {
    const ended = await commands.endOtherSessions({ userId, sessionId });
    outboxRelay.ring();
    return { status: 200, body: { ended } };
  },
});

export const accountRoutes = [
  account,
  changeProfile,
  setLimits,
  confirmAge,
  realityCheck,
  setRealityCheck,
  goOn,
  exclude,
  sessions,
  endSession,
  endOtherSessions,
];
