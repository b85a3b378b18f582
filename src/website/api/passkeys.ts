import { ownApi, publicApi } from "./client.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { NewPasskey, PasskeySignature } from "./types.ts";

/**
 * Passkeys: the server says what to ask the browser for, the browser asks its user, and the server
 * checks what the browser gave.
 */

/** Whether this browser can use passkeys here. They belong to a name, and never to an IP address. */
export function canUsePasskeys(): boolean {
  return (
    "PublicKeyCredential" in window &&
    "parseCreationOptionsFromJSON" in PublicKeyCredential &&
    !isIpAddress(location.hostname)
  );
}

/** Whether a host, as addresses name it, has no name. */
function isIpAddress(hostname: string): boolean {
  return /^[\d.]+$|^\[/.test(hostname);
}

const wrongAddress = "Passkeys do not work at this address.";
const noCheck = "This device cannot make passkeys that check who you are.";

/** Why there is no new passkey, by the name of the browser's error. */
const notMade = {
  NotAllowedError: "No passkey was made: you cancelled, or it took too long.",
  InvalidStateError: "This device has a passkey for your account already.",
  NotSupportedError: noCheck,
  ConstraintError: noCheck,
  SecurityError: wrongAddress,
};

/** Why no passkey was used. Browsers do not say more than this. */
const notUsed = {
  NotAllowedError:
    "No passkey was used: you cancelled, it took too long, or this device has none for this website.",
  SecurityError: wrongAddress,
};

/** Makes a passkey on a device of the user, and adds it to the account. */
export async function addPasskey(name: string): Promise<Result<{ id: string; name: string }>> {
  const options = await resultOf(ownApi.POST("/api/account/passkeys/options"));
  if (!options.ok) return options;
  const made = await ask<NewPasskey>(notMade, () =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options.data),
    }),
  );
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
  return await ask<PasskeySignature>(notUsed, () =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options.data),
    }),
  );
}

/** What the browser gave, as JSON. Its refusals are problems in words. */
async function ask<Json>(
  refusals: Record<string, string>,
  question: () => Promise<Credential | null>,
): Promise<Result<Json>> {
  try {
    const credential = (await question()) as PublicKeyCredential;
    return { ok: true, data: credential.toJSON() as Json };
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    const refusal = refusals[name] ?? "The browser could not use a passkey. Please try again.";
    return { ok: false, problem: { status: 400, error: refusal } };
  }
}
