import { createPasskey, signWithPasskey } from "./browser_passkeys.ts";
import { ownApi, publicApi } from "./client.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { NewPasskey, PasskeySignature } from "./types.ts";

/**
 * Passkeys: the server says what to ask the browser for, the browser asks its user, and the server
 * checks what the browser gave.
 */

/** Makes a passkey on a device of the user, and adds it to the account. */
export async function addPasskey(name: string): Promise<Result<{ id: string; name: string }>> {
  const options = await resultOf(ownApi.POST("/api/account/passkeys/options"));
  if (!options.ok) return options;
  const made = await createPasskey<NewPasskey>(options.data);
  if (!made.ok) return made;
  const body = { name, credential: made.data };
  return await resultOf(ownApi.POST("/api/account/passkeys", { body }));
}

/** Signs in with a passkey that the user chooses. */
export async function signInByPasskey(): Promise<Result<{ userId: string }>> {
  const given = await signByPasskey();
  if (!given.ok) return given;
  const body = { credential: given.data };
  return await resultOf(publicApi.POST("/api/account/sign-in-passkey", { body }));
}

/** What a passkey signs that the user chooses: it proves who the user is, once. */
export async function signByPasskey(): Promise<Result<PasskeySignature>> {
  const options = await resultOf(publicApi.POST("/api/account/sign-in-passkey/options"));
  if (!options.ok) return options;
  return await signWithPasskey<PasskeySignature>(options.data);
}
