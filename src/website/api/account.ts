import { effect, signal } from "@preact/signals";
import { ownApi } from "./client.ts";
import { newsVersion, ownAnswer, ownVersion } from "./own_changes.ts";
import type { OwnAnswer } from "./own_changes.ts";
import { resultOf, retryDelayMs } from "./result.ts";
import type { Problem } from "./result.ts";
import { isSignedIn } from "./session.ts";
import type { OwnProfile } from "./types.ts";

/** The account of the signed-in user, with the balance; undefined until it is known. */
export const account = signal<OwnProfile | undefined>(undefined);
/** Why the account could not be read, if the last attempt failed. */
export const accountProblem = signal<Problem | undefined>(undefined);

let attempts = 0;
let isReading = false;
let retry: ReturnType<typeof setTimeout> | undefined;
/** The newest answer of a command when the account was read. */
let answerAtRead: OwnAnswer | undefined;

/** Reads the account anew. The last attempt counts. */
export async function refreshAccount(): Promise<void> {
  const attempt = ++attempts;
  clearTimeout(retry);
  isReading = true;
  answerAtRead = ownAnswer.peek();
  const result = await resultOf(ownApi.GET("/api/account"));
  if (attempt !== attempts) return;
  isReading = false;
  accountProblem.value = result.ok ? undefined : result.problem;
  if (result.ok) account.value = result.data;
  else retry = retryLater(result.problem);
}

/** To be called when a loss limit is reached: no answer of a command says what is left of it. */
export function noteLimitReached(): void {
  if (answerAtRead !== ownAnswer.peek()) void refreshAccount();
}

function retryLater(problem: Problem): typeof retry {
  const delayMs = retryDelayMs(problem);
  return delayMs === undefined ? undefined : setTimeout(() => void refreshAccount(), delayMs);
}

/** Keeps the account up to date while a user is signed in. */
export function followAccount(): void {
  effect(() => {
    const isNews = ownVersion.value === newsVersion.value;
    if (!isSignedIn.value) forgetAccount();
    else if (isNews || account.peek() === undefined) void refreshAccount();
  });
  effect(() => {
    const balance = ownAnswer.value?.balanceCents;
    const own = account.peek();
    if (balance === undefined || own === undefined) return;
    account.value = { ...own, balance };
    // What is on its way may be older.
    if (isReading) void refreshAccount();
  });
}

function forgetAccount(): void {
  attempts++;
  isReading = false;
  clearTimeout(retry);
  account.value = undefined;
}
