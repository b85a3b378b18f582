import { z } from "zod";
import { FEWEST_CHARACTERS, isCommon } from "../accounts/common_passwords.ts";
import { MOST_TO_NORMALIZE, normalForm } from "../accounts/normal_form.ts";
import { centsSchema, isBlank, timestampSchema, uuidSchema } from "./common.ts";

/** What the routes of an account take and give. */

/** Text on one line: PostgreSQL keeps no NUL, and names need no other control characters. */
export function lineSchema(most: number): z.ZodString {
  return z
    .string()
    .regex(/\P{Cc}/u, "must not be blank")
    .regex(/^\P{Cc}*$/u, "must be one line of text")
    .refine((text) => !isBlank(text), "must not be blank")
    .refine((text) => text.length <= most, `must have at most ${most} characters`);
}

/** An address to which mail can go. */
export const emailSchema = z.email("must be an e-mail address").max(254);

/** An address that may belong to an account, however it was made. */
export const anyEmailSchema = lineSchema(320).meta({ description: "the account's e-mail address" });

export const handleSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,40}$/, "must have 1 to 40 letters, digits, or any of _.-")
  .meta({ description: "unique short name" });

/** No invisible characters, and none that change text direction. */
export const displayNameSchema = lineSchema(100).refine(
  (text) => !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u.test(text),
  "must have no invisible characters",
);

const MOST = 200;

function hasLengthOfPassword(text: string): boolean {
  if (text.length > MOST_TO_NORMALIZE) return false;
  const { length } = Array.from(normalForm(text));
  return length >= FEWEST_CHARACTERS && length <= MOST;
}

/** A password that a user chooses. */
export const newPasswordSchema = z
  .string()
  .refine(hasLengthOfPassword, {
    error: `must have ${FEWEST_CHARACTERS} to ${MOST} characters`,
    abort: true,
  })
  .refine((password) => !isCommon(password), "is one of the most common passwords")
  .meta({ minLength: FEWEST_CHARACTERS, maxLength: MOST });

/** A password that is only compared. */
export const passwordSchema = z
  .string()
  .refine(
    (password) => password.length <= MOST_TO_NORMALIZE,
    `must have at most ${MOST_TO_NORMALIZE} characters`,
  );

/** The token of a link in a mail. A malformed token is treated as an unknown link. */
export const linkTokenSchema = z
  .string()
  .meta({ description: "what stands behind the # of the link" });

/** The age that a user says to have reached. */
export const confirmedAgeSchema = z
  .int()
  .min(1)
  .max(99)
  .meta({ description: "the user confirms to be this many years old or older" });

/** Who signed in: the answer also sets the cookie of the session. */
export const signedInSchema = z.strictObject({ userId: uuidSchema });

/** How an account can be used, besides by its password. */
export const waysInSchema = z
  .strictObject({
    sessions: z.int().min(0).meta({ description: "browsers that are signed in" }),
    passkeys: z.int().min(0),
    apiKeys: z.int().min(0).meta({ description: "API keys in force" }),
  })
  .meta({ id: "WaysIn" });

export const linkSchema = z
  .strictObject({
    kind: z.enum(["confirm_email", "password_reset", "sign_in", "invitation"]),
    email: z.string().nullable().meta({ description: "the address that the link proves" }),
    account: z
      .strictObject({
        displayName: z.string(),
        handle: z.string(),
        presentEmail: z
          .string()
          .nullable()
          .meta({ description: "masked; null: no address was confirmed before" }),
      })
      .nullable()
      .meta({ description: "null for an invitation" }),
    waysIn: waysInSchema.nullable().meta({ description: "what a reset ends; else null" }),
  })
  .meta({ id: "Link" });

export const signUpPolicySchema = z
  .strictObject({
    policy: z.enum(["open", "invitation", "closed"]),
    playMoneyCents: centsSchema.meta({ description: "EUR-cents of play money; only in the demo" }),
    minimumAge: z
      .int()
      .nullable()
      .meta({ description: "in years, to be confirmed at sign-up; null: none" }),
  })
  .meta({ id: "SignUpPolicy" });

const limitSchema = z
  .strictObject({
    limitCents: centsSchema.nullable().meta({ description: "EUR-cents; null: no limit" }),
    usedCents: centsSchema
      .min(0)
      .meta({ description: "net cash put into trading, and what open orders could still cost" }),
    pending: z
      .strictObject({ limitCents: centsSchema.nullable(), at: timestampSchema })
      .nullable()
      .meta({ description: "a raise or a removal, and when it takes effect" }),
  })
  .meta({ id: "LossLimit" });

export const limitsSchema = z
  .strictObject({
    reviewedAt: timestampSchema.nullable().meta({ description: "null: trading is not possible" }),
    day: limitSchema.meta({ description: "today, UTC" }),
    week: limitSchema.meta({ description: "the last 7 days, UTC" }),
    month: limitSchema.meta({ description: "the last 30 days, UTC" }),
  })
  .meta({ id: "LossLimits" });

/** After how much time on the website a user is reminded of it. */
export const realityCheckMinutesSchema = z
  .literal([15, 30, 60, 120])
  .nullable()
  .meta({ description: "after so many minutes on the website comes a reminder; null: never" });

const afterVisit = "since the visit began, in EUR-cents";

export const realityCheckSchema = z
  .strictObject({
    everyMinutes: realityCheckMinutesSchema,
    startedAt: timestampSchema.meta({ description: "when the visit of this session began" }),
    lastedMs: z.int().min(0),
    dueInMs: z.int().min(0).nullable().meta({ description: "0: now; null: never" }),
    realisedCents: centsSchema.meta({
      description: `${afterVisit}: what sales, merges, conversions and resolutions brought, less what the shares cost, less fees`,
    }),
    spentCents: centsSchema.meta({
      description: `${afterVisit}: net cash put into trading; negative when more came out`,
    }),
  })
  .meta({ id: "RealityCheck" });

export const ownProfileSchema = z
  .strictObject({
    id: uuidSchema,
    email: z.string(),
    emailConfirmed: z.boolean(),
    newEmail: z.string().nullable().meta({ description: "asked for, and not confirmed yet" }),
    displayName: z.string(),
    handle: z.string(),
    avatarUrl: z.string().nullable(),
    private: z.boolean(),
    leaderboardOptOut: z.boolean(),
    hasPassword: z.boolean(),
    balance: centsSchema,
    createdAt: timestampSchema,
    frozen: z.boolean().meta({ description: "an operator froze the account" }),
    exclusion: z
      .strictObject({ until: timestampSchema.nullable().meta({ description: "null: for good" }) })
      .nullable()
      .meta({ description: "self-exclusion in force" }),
    ageToConfirm: z
      .int()
      .nullable()
      .meta({ description: "in years: trading is not possible before; null: nothing to confirm" }),
    realityCheckMinutes: realityCheckMinutesSchema,
    limits: limitsSchema,
  })
  .meta({ id: "OwnProfile" });
