import { effect, signal } from "@preact/signals";
import { ownApi } from "./client.ts";
import { ownVersion } from "./own_changes.ts";
import { resultOf } from "./result.ts";
import type { Problem, Result } from "./result.ts";
import { isSignedIn, session } from "./session.ts";
import type { OwnProfile } from "./types.ts";

/** The account of the signed-in user, with the balance; undefined until it is known. */
export const account = signal<OwnProfile | undefined>(undefined);
/** Why the account could not be read, if the last attempt failed. */
export const accountProblem = signal<Problem | undefined>(undefined);

/** Reads the account anew, unless something changed again meanwhile. */
export async function refreshAccount(version = ownVersion.peek()): Promise<void> {
  const readFor = session.peek();
  const result = await readAccount();
  if (version !== ownVersion.peek() || readFor !== session.peek()) return;
  accountProblem.value = result.ok ? undefined : result.problem;
  if (result.ok) account.value = result.data;
}

/** Asks for the account as it is now. */
export async function readAccount(): Promise<Result<OwnProfile>> {
  return await resultOf(ownApi.GET("/api/account"));
}

/** Shows an account as a command left it, unless another user has signed in meanwhile. */
export function keepAccount(changed: OwnProfile): void {
  if (account.peek()?.id === changed.id) account.value = changed;
}

/** Keeps the account up to date while a user is signed in. */
export function followAccount(): void {
  let shownFor = session.peek();
  effect(() => {
    const version = ownVersion.value;
    if (session.value !== shownFor) {
      // It may be another user's.
      account.value = undefined;
      accountProblem.value = undefined;
      shownFor = session.value;
    }
    if (isSignedIn.value) void refreshAccount(version);
    else account.value = undefined;
  });
}
