import { z } from "zod";
import type { CommandResult } from "../database/calls.ts";
import { errorCodes } from "../database/error_codes.ts";
import type { ErrorCodeName } from "../database/error_codes.ts";
import { plainProblem, ProblemError, rejectionByName } from "../http/problems.ts";
import type { Problem } from "../http/problems.ts";
import type { PathParams } from "./route.ts";

/** What several groups of routes share: schemas, parameters of paths, and ways to answer. */

/** A UUID in the usual form, in lower case. */
export const uuidSchema = z.guid().toLowerCase();

/** A path with an id. */
export const idParams = pathWithId(plainProblem(400, "Invalid id"));

/** A path with an id. If it is no UUID, the answer is this problem. */
export function pathWithId(otherwise: Problem): PathParams<z.ZodObject<{ id: typeof uuidSchema }>> {
  return { schema: z.object({ id: uuidSchema }), otherwise };
}

/** Bytes of a UUID, in its usual form. */
export function formatUuid(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** A query's ids of markets. */
export function marketIdsSchema(most: number): z.ZodType<string[]> {
  return idsSchema("markets", most);
}

/** Ids of things of one kind, with commas between them. */
export function idsSchema(things: string, most: number): z.ZodType<string[]> {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(uuidSchema).min(1).max(most))
    .meta({
      override: { type: "string" },
      description: `ids of 1 to ${most} ${things}, with commas between them`,
    });
}

/** Whether an optional field has a value: null is the same as absent. */
export function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

/** The value that was looked up. Ends the request with this problem if there is none. */
export function found<Value>(value: Value | null | undefined, otherwise: Problem): Value {
  if (!isGiven(value)) throw new ProblemError(otherwise);
  return value;
}

/** Ends the request with this problem unless the condition holds. */
export function ensure(condition: boolean, otherwise: Problem): void {
  if (!condition) throw new ProblemError(otherwise);
}

/** The body of an accepted command, as JSON text. Ends the request if the command was rejected. */
export function acceptedBody({ code, message, body }: CommandResult): string {
  if (code !== null) throw new ProblemError(rejectionByName(code, message));
  return body;
}

/** The slug of a category. */
export const slugSchema = z
  .string()
  .max(60, "must have at most 60 characters")
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be words of lower-case letters and digits, joined by -")
  .meta({ description: "URL-safe name" });

export const categoryNotFound = plainProblem(404, "Category not found");

/** The two kinds of shares. */
export const sideSchema = z.enum(["yes", "no"]);

/** What an order does with shares of its side. */
export const orderTypeSchema = z.enum(["buy", "sell"]);

/** Whether an order may rest. */
export const timeInForceSchema = z.enum(["gtc", "ioc", "fok"]);

/** A price, in cents of the side that is traded. */
export const priceSchema = z.int().min(1).max(99).meta({ description: "EUR-cents a share" });

/** Shares of an order, or complete sets. */
export const quantitySchema = z.int().min(1).max(10_000).meta({ description: "shares" });

/** A moment in an answer. */
export const timestampSchema = z.iso.datetime();

/**
 * A moment in a request, converted to UTC and milliseconds: PostgreSQL reads no zone of 16 hours or
 * more, and no year 0000. The year has four digits, in UTC too.
 */
export const momentSchema = z.iso
  .datetime({ offset: true })
  .overwrite((text) => {
    const time = Date.parse(text);
    return Number.isNaN(time) ? text : new Date(time).toISOString();
  })
  .refine((text) => /^(?!0000)\d{4}-/.test(text), "must be between the years 1 and 9999");

/** An amount in an answer. */
export const centsSchema = z.int().meta({ description: "EUR-cents" });

/** Cash; nothing of it is ever reserved. */
export const balanceSchema = z.strictObject({
  total: centsSchema,
  available: centsSchema.meta({ description: "EUR-cents; always equal to total" }),
});

/**
 * `page` and `limit` of a paginated list. The conversion from text hides the defaults from the
 * OpenAPI document, so they are repeated.
 */
export const pageQuerySchema = z.object({
  page: queryInteger(z.int().min(1).max(2_147_483_647))
    .default(1)
    .meta({ override: { default: 1 }, description: "counts from 1; one beyond the end is empty" }),
  limit: limitSchema(50, 20),
});

/** `limit` of a query: how many to answer with, at most. */
export function limitSchema(most: number, usual: number): z.ZodDefault<z.ZodType<number>> {
  return queryInteger(z.int().min(1).max(most))
    .default(usual)
    .meta({ override: { default: usual } });
}

const pageMetaSchema = z.strictObject({
  total: z.int().min(0).meta({ description: "of all pages" }),
  page: z.int().min(1),
  limit: z.int().min(1),
  hasMore: z.boolean().meta({ description: "whether there is another page" }),
});

type Paginated<Item extends z.ZodType> = z.ZodObject<
  { data: z.ZodArray<Item>; meta: typeof pageMetaSchema },
  z.core.$strict
>;

/** A page of `item`s. */
export function paginated<Item extends z.ZodType>(item: Item): Paginated<Item> {
  return z.strictObject({ data: z.array(item), meta: pageMetaSchema });
}

const errorCodeNames = Object.keys(errorCodes) as ErrorCodeName[];

/** Every code: of the header X-Error-Code, and where a body has the code of another answer. */
export const errorCodeSchema = z
  .enum(errorCodeNames)
  .meta({ id: "ErrorCode", description: "for programs; a later version may have more" });

/** The codes that bodies have. */
const shownCodeSchema = z.enum(errorCodeNames.filter((name) => errorCodes[name].codeShown));

/** The body of every answer that isn't a success. */
export const errorSchema = z
  .strictObject({
    error: z.string().meta({ description: "in words, for people" }),
    code: shownCodeSchema.optional().meta({
      description:
        "for programs; some errors have it only in the header `X-Error-Code`, and a later version " +
        "may have more",
    }),
    issues: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: "all that is wrong with a malformed request" }),
  })
  .meta({ id: "Error" });

/** An integer in decimal digits. The schema rejects other text. */
export function queryInteger<Schema extends z.ZodType<number>>(
  schema: Schema,
): z.ZodPreprocess<Schema> {
  const fromText = (text: unknown): unknown =>
    typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text;
  return z.preprocess(fromText, schema);
}

/** What is no white space, no control character and has ink: what core.is_blank looks for. */
const ink =
  /[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;

/** Whether a reader sees nothing of a text. */
export function isBlank(text: string): boolean {
  return !ink.test(text);
}
