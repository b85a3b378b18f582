import { signal } from "@preact/signals";
import { createPasskey, signWithPasskey } from "../../api/browser_passkeys.ts";
import { resultOf } from "../../api/result.ts";
import type { Problem, Result } from "../../api/result.ts";
import type {
  NewPasskey,
  PasskeySignature,
  StaffInvitation,
  StaffSession,
} from "../../api/types.ts";
import type { Role } from "../commands/roles.ts";
import { api } from "./server.ts";

/** Who is signed in to the pages of staff. */

/** A person with a session, or nobody, or what prevents to know it. */
export type Session =
  | { state: "unknown" }
  | { state: "failed"; problem: Problem }
  | { state: "nobody"; hasEnded: boolean }
  | { state: "signedIn"; member: StaffSession };

export const session = signal<Session>({ state: "unknown" });

/** Asks the server who is signed in. */
export async function loadSession(): Promise<void> {
  const result = await resultOf(api.GET("/api/operator/session"));
  if (result.ok) session.value = { state: "signedIn", member: result.data };
  else if (result.problem.status === 401) session.value = { state: "nobody", hasEnded: false };
  else session.value = { state: "failed", problem: result.problem };
}

/** To be called when the server no longer knows the session. */
export function noteEnd(): void {
  session.value = { state: "nobody", hasEnded: true };
}

/** The member who is signed in. Only for what is drawn for members. */
export function memberNow(): StaffSession | undefined {
  return session.value.state === "signedIn" ? session.value.member : undefined;
}

/** Whether the person may call a command of this role; of none, every member of staff may. */
export function mayCall(role: Role | null): boolean {
  const member = memberNow();
  return member !== undefined && (role === null || member.roles.includes(role));
}

/** Signs in by e-mail address, password and passkey, all three. */
export async function signIn(email: string, password: string): Promise<Result<StaffSession>> {
  const options = await resultOf(api.POST("/api/account/sign-in-passkey/options"));
  if (!options.ok) return options;
  const signed = await signWithPasskey<PasskeySignature>(options.data);
  if (!signed.ok) return signed;
  const body = { email, password, credential: signed.data };
  return welcomed(await resultOf(api.POST("/api/operator/sign-in", { body })));
}

/** Ends the session of this browser. */
export async function signOut(): Promise<Result<unknown>> {
  const result = await resultOf(api.DELETE("/api/operator/session"));
  if (result.ok) session.value = { state: "nobody", hasEnded: false };
  return result;
}

/** What the link of an invitation is about. */
export async function readInvitation(token: string): Promise<Result<StaffInvitation>> {
  return await resultOf(api.POST("/api/operator/invitation", { body: { token } }));
}

/** Makes a passkey and accepts the invitation. */
export async function acceptInvitation(
  token: string,
  { password, passkeyName }: { password: string; passkeyName: string },
): Promise<Result<StaffSession>> {
  // The options that were read with the page are good for five minutes.
  const read = await readInvitation(token);
  if (!read.ok) return read;
  const made = await createPasskey<NewPasskey>(read.data.options);
  if (!made.ok) return made;
  const body = { token, password, passkeyName, credential: made.data };
  return welcomed(await resultOf(api.POST("/api/operator/invitation/accept", { body })));
}

/** Adds another passkey to the account of the person who is signed in. */
export async function addStaffPasskey(name: string): Promise<Result<unknown>> {
  const options = await resultOf(api.POST("/api/operator/passkeys/options"));
  if (!options.ok) return options;
  const made = await createPasskey<NewPasskey>(options.data);
  if (!made.ok) return made;
  const body = { name, credential: made.data };
  return await resultOf(api.POST("/api/operator/passkeys", { body }));
}

function welcomed(result: Result<StaffSession>): Result<StaffSession> {
  if (result.ok) session.value = { state: "signedIn", member: result.data };
  return result;
}
