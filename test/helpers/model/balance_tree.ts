import { createHash } from "node:crypto";

/** The tree of a proof of balances, as docs/proof.md describes it, from the leaves alone. */

export interface Leaf {
  /** The public id. */
  userId: string;
  balanceCents: number;
  /** In hexadecimal digits, as all hashes here. */
  salt: string;
}

export interface TreeNode {
  hash: string;
  sumCents: number;
}

export interface Step extends TreeNode {
  side: "left" | "right";
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function eight(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

const hex = (text: string): Buffer => Buffer.from(text, "hex");

function leafNode({ userId, balanceCents, salt }: Leaf, index: number): TreeNode {
  const parts = [
    Buffer.from([0]),
    hex(salt),
    hex(userId.replaceAll("-", "")),
    eight(index),
    eight(balanceCents),
  ];
  return { hash: sha256(Buffer.concat(parts)), sumCents: balanceCents };
}

function parent(left: TreeNode, right: TreeNode): TreeNode {
  const parts = [left, right].flatMap(({ hash, sumCents }) => [eight(sumCents), hex(hash)]);
  return {
    hash: sha256(Buffer.concat([Buffer.from([1]), ...parts])),
    sumCents: left.sumCents + right.sumCents,
  };
}

/** The levels of the tree, that of the leaves first. */
export function treeOf(leaves: Leaf[]): TreeNode[][] {
  const levels = [leaves.map(leafNode)];
  for (;;) {
    const below = levels.at(-1)!;
    if (below.length <= 1) return levels;
    const above: TreeNode[] = [];
    for (let i = 0; i < below.length; i += 2) {
      above.push(i + 1 < below.length ? parent(below[i]!, below[i + 1]!) : below[i]!);
    }
    levels.push(above);
  }
}

/** The root and the total. */
export function rootOf(leaves: Leaf[]): TreeNode {
  return treeOf(leaves).at(-1)![0] ?? { hash: sha256(Buffer.alloc(0)), sumCents: 0 };
}

/** What a user at a place is shown of the others. */
export function pathOf(leaves: Leaf[], index: number): Step[] {
  const path: Step[] = [];
  let place = index;
  for (const level of treeOf(leaves)) {
    const isRight = place % 2 === 1;
    const other = level[isRight ? place - 1 : place + 1];
    if (other !== undefined) path.push({ side: isRight ? "left" : "right", ...other });
    place >>= 1;
  }
  return path;
}
