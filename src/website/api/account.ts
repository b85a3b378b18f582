import { effect, signal } from "@preact/signals";
import { ownApi } from "./client.ts";
import { newsVersion, ownAnswer, ownVersion } from "./own_changes.ts";
import { resultOf, retryDelayMs } from "./result.ts";
import type { Problem, Result } from "./result.ts";
import { isSignedIn, session } from "./session.ts";
import type { OwnProfile } from "./types.ts";

/** The account of the signed-in user, with the balance; undefined until it is known. */
export const account = signal<OwnProfile | undefined>(undefined);
/** Why the account could not be read, if the last attempt failed. */
export const accountProblem = signal<Problem | undefined>(undefined);

let attempts = 0;
let isReading = false;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Reads the account anew. The last attempt counts. */
export async function refreshAccount(): Promise<void> {
  const attempt = ++attempts;
  clearTimeout(retry);
  isReading = true;
  const result = await readAccount();
  if (attempt !== attempts) return;
  isReading = false;
  accountProblem.value = result.ok ? undefined : result.problem;
  if (result.ok) account.value = result.data;
  else retry = retryLater(result.problem);
}

function retryLater(problem: Problem): typeof retry {
  const delayMs = retryDelayMs(problem);
  return delayMs === undefined ? undefined : setTimeout(() => void refreshAccount(), delayMs);
}

/** Asks for the account as it is now. */
export async function readAccount(): Promise<Result<OwnProfile>> {
  return await resultOf(ownApi.GET("/api/account"));
}

/** Shows an account as a command left it, unless another user has signed in meanwhile. */
export function keepAccount(changed: OwnProfile): void {
  if (account.peek()?.id === changed.id) account.value = changed;
}

/** Whether nothing is left to be set up before an order. */
export function mayTrade({ limits, ageToConfirm }: OwnProfile): boolean {
  return limits.reviewedAt !== null && ageToConfirm === null;
}

function hasLossLimit({ limits: { day, week, month } }: OwnProfile): boolean {
  return [day, week, month].some(({ limitCents }) => limitCents !== null);
}

/** Keeps the account up to date while a user is signed in. */
export function followAccount(): void {
  let shownFor = session.peek();
  effect(() => {
    const isNews = ownVersion.value === newsVersion.value;
    // After another sign-in it may be another user's.
    if (session.value !== shownFor || !isSignedIn.value) forgetAccount();
    shownFor = session.value;
    if (isSignedIn.value && (isNews || account.peek() === undefined)) void refreshAccount();
  });
  effect(() => {
    const { balanceCents: balance, isNews = false } = ownAnswer.value ?? { isNews: true };
    const own = account.peek();
    if (own === undefined) return;
    if (balance !== undefined) account.value = { ...own, balance };
    // What is on its way may be older, and no answer says what is left of a loss limit.
    const isOlder = isReading && balance !== undefined;
    if (isOlder || (!isNews && hasLossLimit(own))) void refreshAccount();
  });
}

function forgetAccount(): void {
  attempts++;
  isReading = false;
  clearTimeout(retry);
  account.value = undefined;
  accountProblem.value = undefined;
}
