import type { Request, Response } from "express";
import { z } from "zod";
import type { VersionedResult } from "../database/calls.ts";
import { validate } from "../http/validate.ts";
import { sha256Of } from "../secrets.ts";
import { acceptedBody, formatUuid, uuidSchema } from "./common.ts";

/** Commands that are carried out once, however often they are sent. */

/** The key of a command, and what the command is, as arguments of the database's functions. */
export interface Idempotency {
  idempotencyKey: string;
  requestFingerprint: string;
}

const headersSchema = z.object({ "Idempotency-Key": uuidSchema.optional() });

/**
 * The idempotency key of a request. Undefined if it came without one. The fingerprint is made of the
 * route and of what its schemas gave: requests that differ in unknown fields, in white space, in the
 * order of fields, by null for what is absent, or in whether an order repeats the key are the same
 * command.
 */
export function readIdempotency(
  { method, path }: { method: string; path: string },
  request: Request,
  input: object,
): Idempotency | undefined {
  const header = request.get("Idempotency-Key");
  const { "Idempotency-Key": idempotencyKey } = validate(headersSchema, {
    "Idempotency-Key": header,
  });
  if (idempotencyKey === undefined) return undefined;
  const requestFingerprint = fingerprintOf([method, path, input], idempotencyKey);
  return { idempotencyKey, requestFingerprint };
}

/** Half of the SHA-256 of a value, as a UUID, without fields that have this idempotency key. */
export function fingerprintOf(value: unknown, key?: string): string {
  const text = JSON.stringify(value, (name, part: unknown) =>
    part === null || (name === "idempotencyKey" && part === key) ? undefined : part,
  );
  return formatUuid(sha256Of(text).subarray(0, 16));
}

/** A key of a part of a command, which is the same for each repetition of the command. */
export function keyOfPart(key: string, part: string): string {
  return fingerprintOf([key, part]);
}

/** Marks an answer that was given before. */
export function noteReplay(response: Response, replayed: boolean): void {
  if (replayed) response.setHeader("Idempotency-Replayed", "true");
}

/** How a command is answered that was accepted. */
export interface CommandAnswer {
  status: 200;
  text: string;
  headers: { "X-Market-Version": string };
}

/** The answer to a command; or its rejection, which has the same headers. */
export function commandAnswer(response: Response, result: VersionedResult): CommandAnswer {
  const { marketVersion, replayed } = result;
  noteReplay(response, replayed);
  if (marketVersion !== null) response.setHeader("X-Market-Version", marketVersion);
  const text = acceptedBody(result);
  // What was accepted has a market.
  return { status: 200, text, headers: { "X-Market-Version": String(marketVersion) } };
}
