import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** A device that makes passkeys, as the specification of WebAuthn describes it (ES256). */

/** What a device says of a signature or a new key. A test changes some of it. */
export interface Ceremony {
  /** The site that the browser shows. */
  origin: string;
  rpId: string;
  /** In base64url, as the server gave it. */
  challenge: string;
  type?: string;
  isUserVerified?: boolean;
  isUserPresent?: boolean;
  /** How many signatures the device says it has made; otherwise one more than before. */
  count?: number;
}

export interface Passkey {
  credentialId: Buffer;
  /** In COSE form. */
  publicKey: Buffer;
  privateKey: KeyObject;
  /** The user's handle, as the server gave it. */
  userHandle: string;
  count: number;
}

/** A passkey for a user, by the handle in the server's options. */
export function makePasskey(userHandle: string): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  return {
    credentialId: randomBytes(32),
    // Its kind (EC2), algorithm (ES256), curve (P-256) and the two coordinates.
    publicKey: cbor(
      new Map<number, number | Buffer>([
        ...([
          [1, 2],
          [3, -7],
          [-1, 1],
        ] as const),
        [-2, Buffer.from(x!, "base64url")],
        [-3, Buffer.from(y!, "base64url")],
      ]),
    ),
    privateKey,
    userHandle,
    count: 0,
  };
}

/** What `navigator.credentials.create()` gives, as JSON. */
export function attestationOf(
  passkey: Passkey,
  ceremony: Ceremony,
  {
    format = "none",
    statement = new Map<string, CborValue>(),
  }: { format?: string; statement?: Map<string, CborValue> } = {},
) {
  const { credentialId, publicKey } = passkey;
  const attested = Buffer.concat([
    Buffer.alloc(16),
    bigEndian(credentialId.length, 2),
    credentialId,
    publicKey,
  ]);
  const authData = Buffer.concat([head(ceremony, ceremony.count ?? passkey.count, 0x40), attested]);
  const attestationObject = cbor(
    new Map<string, CborValue>([
      ["fmt", format],
      ["attStmt", statement],
      ["authData", authData],
    ]),
  );
  return {
    ...identityOf(passkey),
    response: {
      clientDataJSON: clientData(ceremony, "webauthn.create").toString("base64url"),
      attestationObject: attestationObject.toString("base64url"),
      transports: ["internal", "hybrid", "by-carrier-pigeon"],
    },
    authenticatorAttachment: "platform",
    clientExtensionResults: {},
  };
}

/** What `navigator.credentials.get()` gives, as JSON. */
export function assertionOf(passkey: Passkey, ceremony: Ceremony) {
  passkey.count = ceremony.count ?? passkey.count + 1;
  const authenticatorData = head(ceremony, passkey.count, 0);
  const clientDataJson = clientData(ceremony, "webauthn.get");
  const signature = sign(
    "sha256",
    Buffer.concat([authenticatorData, sha256(clientDataJson)]),
    passkey.privateKey,
  );
  return {
    ...identityOf(passkey),
    response: {
      clientDataJSON: clientDataJson.toString("base64url"),
      authenticatorData: authenticatorData.toString("base64url"),
      signature: signature.toString("base64url"),
      userHandle: passkey.userHandle,
    },
    authenticatorAttachment: "platform",
    clientExtensionResults: {},
  };
}

function identityOf({ credentialId }: Passkey) {
  const id = credentialId.toString("base64url");
  return { id, rawId: id, type: "public-key" };
}

function clientData({ challenge, origin, type }: Ceremony, usual: string): Buffer {
  return Buffer.from(
    JSON.stringify({ type: type ?? usual, challenge, origin, crossOrigin: false }),
  );
}

/** The site, what the device knows of its user, and the count. */
function head(
  { rpId, isUserPresent = true, isUserVerified = true }: Ceremony,
  count: number,
  moreFlags: number,
): Buffer {
  const flags = (isUserPresent ? 0x01 : 0) | (isUserVerified ? 0x04 : 0) | moreFlags;
  return Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags]), bigEndian(count, 4)]);
}

type CborValue = number | string | Buffer | CborValue[] | Map<string | number, CborValue>;

/** The few kinds of CBOR (RFC 8949) that WebAuthn uses. */
export function cbor(value: CborValue): Buffer {
  if (typeof value === "number") {
    return value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value);
  }
  if (typeof value === "string") {
    return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([cborHead(4, value.length), ...value.map(cbor)]);
  return Buffer.concat([
    cborHead(5, value.size),
    ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)]),
  ]);
}

function cborHead(kind: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(kind << 5) | length]);
  if (length < 256) return Buffer.from([(kind << 5) | 24, length]);
  return Buffer.concat([Buffer.from([(kind << 5) | 25]), bigEndian(length, 2)]);
}

function bigEndian(number: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(number, 0, bytes);
  return buffer;
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
