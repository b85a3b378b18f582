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
  /** Whether the page stands in a frame of another site, and of which. */
  crossOrigin?: boolean;
  topOrigin?: string;
  /** How many signatures the device says it has made; otherwise one more than before. */
  count?: number;
}

export interface Passkey {
  credentialId: Buffer;
  /** In COSE form. */
  publicKey: Buffer;
  keys: { publicKey: KeyObject; privateKey: KeyObject };
  /** The user's handle, as the server gave it. */
  userHandle: string;
  count: number;
}

/** A passkey for a user, by the handle in the server's options. */
export function makePasskey(userHandle: string): Passkey {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = keys.publicKey.export({ format: "jwk" });
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
    keys,
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
    passkey.keys.privateKey,
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

/** The same, by a device that shows a certificate of its own (of the kind fido-u2f). */
export function certifiedAttestationOf(passkey: Passkey, ceremony: Ceremony) {
  const { credentialId, keys } = passkey;
  const { x, y } = keys.publicKey.export({ format: "jwk" });
  const point = [Buffer.from(x!, "base64url"), Buffer.from(y!, "base64url")];
  const signed = Buffer.concat([
    Buffer.from([0]),
    sha256(Buffer.from(ceremony.rpId)),
    sha256(clientData(ceremony, "webauthn.create")),
    credentialId,
    ...[Buffer.from([4]), ...point],
  ]);
  const statement = new Map<string, CborValue>([
    ["x5c", [certificateOf(keys)]],
    ["sig", sign("sha256", signed, keys.privateKey)],
  ]);
  return attestationOf(passkey, ceremony, { format: "fido-u2f", statement });
}

/** A certificate (X.509) that a key has signed for itself. */
function certificateOf({ publicKey, privateKey }: Passkey["keys"]): Buffer {
  const der = (tag: number, ...parts: Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    const { length } = content;
    const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
    return Buffer.concat([Buffer.from([tag, ...size]), content]);
  };
  const text = (tag: number, value: string) => der(tag, Buffer.from(value));
  const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
  const commonName = der(0x06, Buffer.from("550403", "hex"));
  const name = sequence(der(0x31, sequence(commonName, text(0x0c, "A device"))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(text(0x17, "200101000000Z"), text(0x17, "491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = sign("sha256", body, privateKey);
  return sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
}

function identityOf({ credentialId }: Passkey) {
  const id = credentialId.toString("base64url");
  return { id, rawId: id, type: "public-key" };
}

function clientData(
  { challenge, origin, type, crossOrigin = false, topOrigin }: Ceremony,
  usual: string,
): Buffer {
  return Buffer.from(
    JSON.stringify({ type: type ?? usual, challenge, origin, crossOrigin, topOrigin }),
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
