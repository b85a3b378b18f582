import type { Request, Response } from "express";
import { bytesOf } from "../accounts/passkeys.ts";
import { hashPassword, standardSettings } from "../accounts/passwords.ts";
import type { HashClient } from "../accounts/passwords.ts";
import type { AttemptCounters } from "../http/access.ts";
import { ProblemError, rejection } from "../http/problems.ts";
import { browserMarkOf } from "../http/session_cookie.ts";
import { isWellFormedSecret, sha256Of } from "../secrets.ts";
import type { Context } from "./context.ts";

/** Attempts to sign in: by what they are counted, and the hashes of what was given. */

/**
 * By what attempts to sign in to an account are counted: those of browsers that its user has used
 * before by themselves, so that no stranger can use them up; others by address, by account and
 * address, and all of an account together.
 */
export function accountCounters(email: string, address: string, isKnown: boolean): AttemptCounters {
  const account = emailSubject(email);
  return isKnown
    ? { "sign-in-account": `${account} known` }
    : {
        ...{ "sign-in": address, "sign-in-account": `${account} ${address}` },
        "sign-in-strangers": account,
      };
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

/**
 * Does something with the hash of the password that a user gave as their own. It is an attempt of that
 * user, whatever others at the address do.
 */
export async function withOwnHash<Result>(
  password: string,
  { userId, client, response }: { userId: string; client: HashClient; response: Response },
  { access, reads }: Pick<Context, "access" | "reads">,
  work: (passwordHash: string) => Promise<Result>,
): Promise<Result> {
  return await access.attempt({ "sign-in-account": userId }, response, async () => {
    const settings = await reads.getPasswordSettings({ standard: standardSettings, userId });
    return await work(await hashPassword(password, settings, client));
  });
}

/** Who waits for the hash of a request. */
export function hashClientOf(address: string, response: Response, isKnown = false): HashClient {
  return { address, isKnown, hasLeft: () => response.destroyed };
}
