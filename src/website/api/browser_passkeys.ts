import type { Result } from "./result.ts";

/** What a browser does with passkeys, for traders and for staff. */

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

/** Makes a passkey by the server's options. */
export async function createPasskey<Json>(
  options: PublicKeyCredentialCreationOptionsJSON,
): Promise<Result<Json>> {
  return await ask<Json>(notMade, () =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    }),
  );
}

/** Signs by a passkey that the user chooses. */
export async function signWithPasskey<Json>(
  options: PublicKeyCredentialRequestOptionsJSON,
): Promise<Result<Json>> {
  return await ask<Json>(notUsed, () =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
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
