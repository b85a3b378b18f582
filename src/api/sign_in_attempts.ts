import type { Request, Response } from "express";
import { bytesOf } from "../accounts/passkeys.ts";
import { hashPassword, standardSettings } from "../accounts/passwords.ts";
import { ProblemError, rejection } from "../http/problems.ts";
import { browserMarkOf } from "../http/session_cookie.ts";
import { isWellFormedSecret, sha256Of } from "../secrets.ts";
import type { Context } from "./context.ts";

/** Attempts to sign in: by what they are counted, and the hashes of what was given. */

/**
 * By what attempts to sign in to an account are counted: those of browsers that its user has used
 * before by themselves, so that no stranger can use them up; others by account and address, and all
 * of these together.
 */
export async function accountCounters(
  email: string,
  address: string,
  request: Request,
  context: Pick<Context, "commands">,
): Promise<{ "sign-in-account": string; "sign-in-strangers"?: string }> {
  const account = emailSubject(email);
  return (await isKnownBrowser(email, request, context))
    ? { "sign-in-account": `${account} known` }
    : { "sign-in-account": `${account} ${address}`, "sign-in-strangers": account };
}

/** Whether the user of an address has signed in with this browser before. */
export async function isKnownBrowser(
  email: string,
  request: Request,
  { commands }: Pick<Context, "commands">,
): Promise<boolean> {
  const mark = browserMarkOf(request);
  return mark !== undefined && isSame(mark, await commands.getBrowserMark({ email }));
}

/** Compares hashes, so the time taken says nothing about the text. */
function isSame(given: string, right: string | null): boolean {
  return right !== null && sha256Of(given).equals(sha256Of(right));
}

/** An e-mail address as attempts are counted by it: the database takes ASCII's capitals for small. */
function emailSubject(email: string): string {
  return subjectOf(email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()));
}

/** A link as attempts are counted by it, well-formed or not. */
export function linkSubject(token: string): string {
  return subjectOf(token);
}

/** A passkey as attempts are counted by it, known or not. Several texts may stand for its bytes. */
export function passkeySubject({ id }: { id: string }): string {
  return subjectOf(bytesOf(id).toString("hex"));
}

function subjectOf(text: string): string {
  return sha256Of(text).toString("hex");
}

/** Hashes the token of a link, or ends the request if it is malformed. */
export function hashOfLink(token: string): Buffer {
  if (!isWellFormedSecret(token, "jl_")) throw new ProblemError(rejection("INVALID_LINK"));
  return sha256Of(token);
}

/** Hashes the password that a user gave as their own. It counts as an attempt to sign in. */
export async function ownHash(
  password: string,
  { userId, address, response }: { userId: string; address: string; response: Response },
  { access, reads }: Pick<Context, "access" | "reads">,
): Promise<string> {
  await access.countAttempt({ "sign-in": address, "sign-in-account": userId }, response);
  const settings = await reads.getPasswordSettings({ standard: standardSettings, userId });
  return await hashPassword(password, settings);
}
