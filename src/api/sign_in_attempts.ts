import type { Request, Response } from "express";
import { bytesOf } from "../accounts/passkeys.ts";
import { hashPassword, standardSettings } from "../accounts/passwords.ts";
import { codeOfSqlstate } from "../database/error_codes.ts";
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
export function accountCounters(
  email: string,
  address: string,
  isKnown: boolean,
): { "sign-in-account": string; "sign-in-strangers"?: string } {
  const account = emailSubject(email);
  return isKnown
    ? { "sign-in-account": `${account} known` }
    : { "sign-in-account": `${account} ${address}`, "sign-in-strangers": account };
}

/** By what attempts with a passkey are counted: those of its user's browsers by themselves, too. */
export function passkeyCounters(
  credential: { id: string },
  address: string,
  isKnown: boolean,
): { "sign-in"?: string; "sign-in-account": string } {
  const passkey = passkeySubject(credential);
  return isKnown
    ? { "sign-in-account": `${passkey} known` }
    : { "sign-in": address, "sign-in-account": passkey };
}

/**
 * By what attempts of staff to sign in are counted, apart from those of users: with a right signature
 * by its passkey, others by the address. So nobody locks out a person whose passkey they do not have.
 */
export function staffCounters(
  credential: { id: string },
  address: string,
  isSigned: boolean,
): { "sign-in": string } | { "sign-in-account": string } {
  return isSigned
    ? { "sign-in-account": `staff ${passkeySubject(credential)}` }
    : { "sign-in": `staff ${address}` };
}

/** Whether the user of an address, or with an id and a passkey, has signed in with this browser before. */
export async function isKnownBrowser(
  of: { email: string } | { userId: string; credentialId: Buffer },
  request: Request,
  { commands }: Pick<Context, "commands">,
): Promise<boolean> {
  const mark = browserMarkOf(request);
  return mark !== undefined && isSame(mark, await commands.getBrowserMark(of));
}

/** Compares hashes, so the time taken says nothing about the text. */
function isSame(given: string, right: string | null): boolean {
  return right !== null && sha256Of(given).equals(sha256Of(right));
}

/** An e-mail address as attempts are counted by it: the database takes ASCII's capitals for small. */
function emailSubject(email: string): string {
  return subjectOf(email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()));
}

/** A passkey as attempts are counted by it, known or not. Several texts may stand for its bytes. */
function passkeySubject({ id }: { id: string }): string {
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

/** Finds what a link is for; fails with INVALID_LINK if it is not good. */
type LinkFinder = (link: { tokenHash: Buffer }) => Promise<unknown>;

/**
 * Hashes the token of a link that is good, and counts an attempt with it, no matter who makes it. An
 * unknown link ends the request. It counts by address like other unknown secrets, so that strangers
 * use up nothing of the links of others.
 */
export async function countLink(
  token: string,
  { address, response }: { address: string; response: Response },
  { access, reads }: Pick<Context, "access" | "reads">,
  find: LinkFinder = reads.getLink,
): Promise<Buffer> {
  try {
    const tokenHash = hashOfLink(token);
    await find({ tokenHash });
    await access.countAttempt({ "sign-in-account": subjectOf(token) }, response);
    return tokenHash;
  } catch (error) {
    if (isInvalidLink(error)) await access.countAttempt({ "unknown-key": address }, response);
    throw error;
  }
}

function isInvalidLink(error: unknown): boolean {
  return error instanceof ProblemError
    ? error.problem.body.code === "INVALID_LINK"
    : codeOfSqlstate((error as { code?: string }).code) === "INVALID_LINK";
}

/** Hashes the password that a user gave as their own. It counts as an attempt to sign in. */
export async function ownHash(
  password: string,
  { userId, response }: { userId: string; response: Response },
  { access, reads }: Pick<Context, "access" | "reads">,
): Promise<string> {
  await access.countAttempt({ "sign-in-account": userId }, response);
  const settings = await reads.getPasswordSettings({ standard: standardSettings, userId });
  return await hashPassword(password, settings, { isKnown: true });
}
