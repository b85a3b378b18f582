import { randomBytes, randomUUID } from "node:crypto";
import test from "ava";
import { faultOf } from "../../src/website/api/balance_proof.ts";
import { pathOf, rootOf } from "../helpers/model/balance_tree.ts";
import type { Leaf, Step } from "../helpers/model/balance_tree.ts";

/** What the account page computes of an answer of GET /me/proof. */

const leavesOf = (count: number): Leaf[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ userId: randomUUID(), balanceCents: 100 + index },
    salt: randomBytes(32).toString("hex"),
  }));

function proofOf(leaves: Leaf[], leafIndex: number) {
  const { hash: root, sumCents: totalCents } = rootOf(leaves);
  const { balanceCents, salt } = leaves[leafIndex]!;
  const path = pathOf(leaves, leafIndex);
  return {
    publishedAt: "2030-01-01T00:00:00Z",
    root,
    totalCents,
    balanceCents,
    salt,
    leafIndex,
    path,
  };
}

test("each leaf of trees of many sizes is in the total", async (t) => {
  for (const count of [1, 2, 3, 5, 8, 11, 100]) {
    const leaves = leavesOf(count);
    for (const [index, { userId }] of leaves.entries()) {
      t.is(await faultOf(proofOf(leaves, index), userId), undefined, `${index} of ${count}`);
    }
  }
});

test("what does not fit is named", async (t) => {
  const leaves = leavesOf(11);
  const proof = proofOf(leaves, 5);
  const { userId } = leaves[5]!;
  const [first, ...rest] = proof.path as [Step, ...Step[]];
  const away = "Your balance and the path do not lead to the root.";
  const changed: [change: object, fault: string][] = [
    [{ balanceCents: proof.balanceCents + 1 }, away],
    [{ salt: leaves[0]!.salt }, away],
    [{ root: rootOf(leavesOf(11)).hash }, away],
    [{ path: [{ ...first, sumCents: first.sumCents + 1 }, ...rest] }, away],
    [{ path: [{ ...first, hash: rest[0]!.hash }, ...rest] }, away],
    [{ totalCents: proof.totalCents - 1 }, "The amounts of the path do not make up the total."],
    [{ leafIndex: 4 }, "The number of the leaf does not fit its path."],
    [
      { path: [{ ...first, side: "right" }, ...rest] },
      "The number of the leaf does not fit its path.",
    ],
    [
      { path: [{ ...first, sumCents: -1 }, ...rest] },
      "An amount is below zero, or no whole number of cents.",
    ],
  ];
  for (const [change, fault] of changed) {
    t.is(await faultOf({ ...proof, ...change }, userId), fault);
  }
  t.is(await faultOf(proof, leaves[4]!.userId), away, "the leaf of another user");
});
