import { randomBytes } from "node:crypto";
import * as asn1js from "asn1js";

/** Time stamps by RFC 3161: a service signs that a hash was there at a time. */

const SHA_256 = "2.16.840.1.101.3.4.2.1";

/** Longer answers are none: a time stamp with its certificates has some kilobytes. */
const MOST_BYTES = 65_536;

/** What a service answers if it stamps: granted, and granted with changes. */
const GRANTED = [0, 1];

/**
 * The service's time stamp of a SHA-256 hash, as the bytes of a TimeStampResp for `openssl ts`.
 * Throws if it is refused, or if it is that of another hash or request. The signature is left to the
 * people who have the service's certificate.
 */
export async function requestTimeStamp(
  url: string,
  hash: Buffer,
  signal: AbortSignal,
): Promise<Buffer> {
  // An integer that is positive and has no zeros in front.
  const nonce = Buffer.concat([Buffer.of(1), randomBytes(16)]);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/timestamp-query" },
    body: timeStampRequest(hash, nonce),
    redirect: "error",
    signal,
  });
  if (!response.ok) throw new Error(`the time-stamp service answered ${response.status}`);
  const answer = await readAtMost(response, MOST_BYTES);
  checkTimeStamp(answer, hash, nonce);
  return answer;
}

function timeStampRequest(hash: Buffer, nonce: Buffer): ArrayBuffer {
  const imprint = [
    new asn1js.Sequence({
      value: [new asn1js.ObjectIdentifier({ value: SHA_256 }), new asn1js.Null()],
    }),
    new asn1js.OctetString({ valueHex: hash }),
  ];
  return new asn1js.Sequence({
    value: [
      new asn1js.Integer({ value: 1 }),
      new asn1js.Sequence({ value: imprint }),
      new asn1js.Integer({ valueHex: nonce }),
      new asn1js.Boolean({ value: true }),
    ],
  }).toBER();
}

async function readAtMost(response: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > most) throw new Error(`the time-stamp service answered more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function checkTimeStamp(answer: Buffer, hash: Buffer, nonce: Buffer): void {
  const [statusInfo, token] = parts(parse(answer));
  const status = parts(statusInfo)[0];
  if (!(status instanceof asn1js.Integer) || !GRANTED.includes(status.valueBlock.valueDec)) {
    throw new Error("the time-stamp service refused the request");
  }
  // ContentInfo, SignedData, EncapsulatedContentInfo, its octets: a TSTInfo.
  const signedData = parts(parts(token)[1])[0];
  const content = parts(parts(parts(signedData)[2])[1])[0];
  if (!(content instanceof asn1js.OctetString)) throw notATimeStamp();
  const [, , imprint, ...others] = parts(parse(Buffer.from(content.getValue())));
  const stamped = parts(imprint)[1];
  const isOfHash =
    stamped instanceof asn1js.OctetString && hash.equals(Buffer.from(stamped.getValue()));
  if (!isOfHash) throw new Error("the time stamp is of another hash");
  const isOfRequest = others.some(
    (part) =>
      part instanceof asn1js.Integer && nonce.equals(Buffer.from(part.valueBlock.valueHexView)),
  );
  if (!isOfRequest) throw new Error("the time stamp is of another request");
}

function parse(bytes: Buffer): asn1js.AsnType {
  const { offset, result } = asn1js.fromBER(new Uint8Array(bytes));
  if (offset === -1) throw notATimeStamp();
  return result;
}

/** What is in a part that has others; nothing for one that has none. */
function parts(part: asn1js.AsnType | undefined): asn1js.AsnType[] {
  return part instanceof asn1js.Constructed ? part.valueBlock.value : [];
}

function notATimeStamp(): Error {
  return new Error("the answer of the time-stamp service is no time stamp");
}
