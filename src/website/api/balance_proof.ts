import type { OwnProof } from "./types.ts";

/**
 * Whether an answer of GET /me/proof shows that the cash is in the total, as docs/proof.md says it.
 * Everything is computed in this browser.
 */

/** What does not fit, in words; undefined: the cash is in the total. */
export async function faultOf(proof: OwnProof, userId: string): Promise<string | undefined> {
  const { balanceCents, leafIndex, path, root, salt, totalCents } = proof;
  const amounts = [balanceCents, leafIndex, ...path.map(({ sumCents }) => sumCents)];
  if (!amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0)) {
    return "An amount is below zero, or no whole number of cents.";
  }
  if (!fits(leafIndex, path)) return "The number of the leaf does not fit its path.";
  let sumCents = balanceCents;
  let hash = await sha256(
    new Uint8Array([0]),
    bytesOf(salt),
    bytesOf(userId.replaceAll("-", "")),
    eight(leafIndex),
    eight(sumCents),
  );
  for (const step of path) {
    const [own, other] = [
      { sumCents, hash },
      { sumCents: step.sumCents, hash: bytesOf(step.hash) },
    ];
    const pair = step.side === "left" ? [other, own] : [own, other];
    const parts = pair.flatMap((node) => [eight(node.sumCents), node.hash]);
    hash = await sha256(new Uint8Array([1]), ...parts);
    sumCents += step.sumCents;
  }
  if (hexOf(hash) !== root) return "Your balance and the path do not lead to the root.";
  if (sumCents !== totalCents) return "The amounts of the path do not make up the total.";
  return undefined;
}

/** Whether the sides are the bits of the number, but for zeros of levels without a step. */
function fits(leafIndex: number, path: OwnProof["path"]): boolean {
  let rest = leafIndex;
  for (const { side } of path) {
    if (side === "left") while (rest > 0 && rest % 2 === 0) rest /= 2;
    if (rest % 2 !== (side === "left" ? 1 : 0)) return false;
    rest = Math.floor(rest / 2);
  }
  return rest === 0;
}

type Bytes = Uint8Array<ArrayBuffer>;

async function sha256(...parts: Bytes[]): Promise<Bytes> {
  const all = await new Blob(parts).arrayBuffer();
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all));
}

/** A number as 8 bytes, the highest first. */
function eight(value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

const bytesOf = (hex: string): Bytes =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

const hexOf = (bytes: Bytes): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
