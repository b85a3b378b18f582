import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { AttestationObject, ClientDataJSON } from "@simplewebauthn/server/helpers";

/**
 * Passkeys are checked here, by WebAuthn, and kept in the database. Here: the signature, the site
 * that it was made for, and that the device has verified its user. There: the challenge, whose
 * passkey it is, and the count of its signatures.
 */

/** The site that passkeys are made for. */
export interface RelyingParty {
  /** As browsers name it, such as `https://markets.example`. */
  origin: string;
}

/** What browsers are asked for: any of these, so that every device finds one that it knows. */
export const algorithms = [-7, -8, -257] as const;

/** What a device says of itself by these words is kept; others are not sent to browsers again. */
const knownTransports = ["ble", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** A passkey that a browser has made. */
export interface NewPasskey {
  challenge: Buffer;
  credentialId: Buffer;
  publicKey: Buffer;
  signCount: number;
  transports: string[];
}

/** A signature of a passkey. */
export interface PasskeySignature {
  challenge: Buffer;
  signCount: number;
}

/** The name by which browsers know the site: a passkey works there and nowhere else. */
export function relyingPartyId({ origin }: RelyingParty): string {
  return new URL(origin).hostname;
}

/** Checks the passkey that a browser has made. Undefined: it is not one of ours. */
export async function checkNewPasskey(
  response: RegistrationResponseJSON,
  site: RelyingParty,
): Promise<NewPasskey | undefined> {
  const [{ verifyRegistrationResponse }, helpers] = await loadLibrary();
  return await orNothing(async () => {
    const { attestationObject } = response.response;
    const attestation = helpers.decodeAttestationObject(
      helpers.isoBase64URL.toBuffer(attestationObject),
    );
    if (!isWithoutCertificates(attestation)) return undefined;
    if (!isOfOwnPage(helpers.decodeClientDataJSON(response.response.clientDataJSON))) {
      return undefined;
    }
    const { expected, readChallenge } = expectedBy(site);
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      ...expected,
      supportedAlgorithmIDs: [...algorithms],
    });
    const challenge = readChallenge();
    if (!verified || challenge === undefined) return undefined;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      challenge,
      credentialId: bytesOf(id),
      publicKey: Buffer.from(publicKey),
      signCount: counter,
      transports: transports.filter((name) => knownTransports.includes(name)),
    };
  });
}

/** Checks a signature by the public key of its passkey. Undefined: it is not right. */
export async function checkPasskeySignature(
  response: AuthenticationResponseJSON,
  publicKey: Buffer,
  site: RelyingParty,
): Promise<PasskeySignature | undefined> {
  const [{ verifyAuthenticationResponse }, helpers] = await loadLibrary();
  return await orNothing(async () => {
    if (!isOfOwnPage(helpers.decodeClientDataJSON(response.response.clientDataJSON))) {
      return undefined;
    }
    const { expected, readChallenge } = expectedBy(site);
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      ...expected,
      // The database compares the counter, when it opens the session.
      credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 },
    });
    const challenge = readChallenge();
    if (!verified || challenge === undefined) return undefined;
    return { challenge, signCount: authenticationInfo.newCounter };
  });
}

/** What every response must show. The database knows whether the challenge in it is ours. */
function expectedBy(site: RelyingParty) {
  let challenge: Buffer | undefined;
  const expected = {
    expectedChallenge: (given: string): boolean => {
      challenge = bytesOf(given);
      return true;
    },
    expectedOrigin: site.origin,
    expectedRPID: relyingPartyId(site),
    requireUserVerification: true,
  };
  return { expected, readChallenge: () => challenge };
}

/** Whether a page of the site asked that stood in no frame of another site. */
function isOfOwnPage({ crossOrigin, topOrigin }: ClientDataJSON): boolean {
  return crossOrigin !== true && topOrigin === undefined;
}

/** Bytes that a browser has written in base64url. */
export function bytesOf(text: string): Buffer {
  return Buffer.from(text, "base64url");
}

/**
 * Whether a device does not say who made it. Browsers were asked not to tell. The library would read
 * the certificates of an answer that tells, and ask the addresses in them.
 */
function isWithoutCertificates(attestation: AttestationObject): boolean {
  const format = attestation.get("fmt");
  if (format === "none") return true;
  return format === "packed" && attestation.get("attStmt").get("x5c") === undefined;
}

/** It takes a tenth of a second to load, and no server needs it before the first passkey. */
async function loadLibrary() {
  return await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
}

/** The library throws at whatever is wrong with a response, such as bytes that are no CBOR. */
async function orNothing<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
