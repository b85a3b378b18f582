import { effect, signal } from "@preact/signals";
import { ownApi } from "./client.ts";
import { ownVersion } from "./own_changes.ts";
import { resultOf } from "./result.ts";
import type { Problem } from "./result.ts";
import { isSignedIn } from "./session.ts";
import type { OwnProfile } from "./types.ts";

/** The account of the signed-in user, with the balance; undefined until it is known. */
export const account = signal<OwnProfile | undefined>(undefined);
/** Why the account could not be read, if the last attempt failed. */
export const accountProblem = signal<Problem | undefined>(undefined);

/** Reads the account anew, unless something changed again meanwhile. */
export async function refreshAccount(version = ownVersion.peek()): Promise<void> {
  const result = await resultOf(ownApi.GET("/api/account"));
  if (version !== ownVersion.peek()) return;
  accountProblem.value = result.ok ? undefined : result.problem;
  if (result.ok) account.value = result.data;
}

/** Keeps the account up to date while a user is signed in. */
export function followAccount(): void {
  effect(() => {
    const version = ownVersion.value;
    if (isSignedIn.value) void refreshAccount(version);
    else account.value = undefined;
  });
}
