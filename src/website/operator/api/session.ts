import { signal } from "@preact/signals";
import { createPasskey, signWithPasskey } from "../../api/browser_passkeys.ts";
import type { Problem, Result } from "../../api/result.ts";
import type { Role } from "../commands/roles.ts";
import { send } from "./calls.ts";

/** Who is signed in to the pages of staff. */

export interface Member {
  staffId: string;
  name: string;
  roles: Role[];
}

/** A person with a session, or nobody, or what prevents to know it. */
export type Session =
  | { state: "unknown" }
  | { state: "failed"; problem: Problem }
  | { state: "nobody"; hasEnded: boolean }
  | { state: "signedIn"; member: Member };

export const session = signal<Session>({ state: "unknown" });

/** Asks the server who is signed in. */
export async function loadSession(): Promise<void> {
  const result = await send<Member>("GET", "/api/operator/session");
  if (result.ok) session.value = { state: "signedIn", member: result.data };
  else if (result.problem.status === 401) session.value = { state: "nobody", hasEnded: false };
  else session.value = { state: "failed", problem: result.problem };
}

/** To be called when the server no longer knows the session. */
export function noteEnd(): void {
  session.value = { state: "nobody", hasEnded: true };
}

/** The member who is signed in. Only for what is drawn for members. */
export function memberNow(): Member | undefined {
  return session.value.state === "signedIn" ? session.value.member : undefined;
}

/** Whether the person may call a command of this role; of none, every member of staff may. */
export function mayCall(role: Role | null): boolean {
  const member = memberNow();
  return member !== undefined && (role === null || member.roles.includes(role));
}

type CreationOptions = PublicKeyCredentialCreationOptionsJSON;

/** Signs in by e-mail address, password and passkey, all three. */
export async function signIn(email: string, password: string): Promise<Result<Member>> {
  const options = await send<PublicKeyCredentialRequestOptionsJSON>(
    "POST",
    "/api/account/sign-in-passkey/options",
  );
  if (!options.ok) return options;
  const signed = await signWithPasskey<unknown>(options.data);
  if (!signed.ok) return signed;
  const body = { email, password, credential: signed.data };
  const result = await send<Member>("POST", "/api/operator/sign-in", body);
  return welcomed(result);
}

/** Ends the session of this browser. */
export async function signOut(): Promise<Result<unknown>> {
  const result = await send("DELETE", "/api/operator/session");
  if (result.ok) session.value = { state: "nobody", hasEnded: false };
  return result;
}

/** What the link of an invitation is about. */
export interface Invitation {
  email: string;
  name: string;
  options: CreationOptions;
}

export async function readInvitation(token: string): Promise<Result<Invitation>> {
  return await send("POST", "/api/operator/invitation", { token });
}

/** Makes a passkey and accepts the invitation. */
export async function acceptInvitation(
  token: string,
  { password, passkeyName }: { password: string; passkeyName: string },
): Promise<Result<Member>> {
  // The options that were read with the page are good for five minutes.
  const read = await readInvitation(token);
  if (!read.ok) return read;
  const made = await createPasskey<unknown>(read.data.options);
  if (!made.ok) return made;
  const body = { token, password, passkeyName, credential: made.data };
  return welcomed(await send<Member>("POST", "/api/operator/invitation/accept", body));
}

/** Adds another passkey to the account of the person who is signed in. */
export async function addStaffPasskey(name: string): Promise<Result<unknown>> {
  const options = await send<CreationOptions>("POST", "/api/operator/passkeys/options");
  if (!options.ok) return options;
  const made = await createPasskey<unknown>(options.data);
  if (!made.ok) return made;
  return await send("POST", "/api/operator/passkeys", { name, credential: made.data });
}

function welcomed(result: Result<Member>): Result<Member> {
  if (result.ok) session.value = { state: "signedIn", member: result.data };
  return result;
}
