import type { Damage } from "./damage.ts";

/** Ways to break the last proof of balances. */
export const proofDamages: Damage[] = [
  [
    "leaf of the last proof is the cash of its user",
    "update ledger.proof_leaves set balance_cents = balance_cents + 1 where leaf_index = 0",
  ],
  [
    "leaf of the last proof is the cash of its user",
    "update ledger.proof_leaves set account_version = 1000000 where user_id = :fay",
  ],
  [
    "leaf of the last proof is the cash of its user",
    "update ledger.proof_leaves set balance_cents = 1 where user_id = :fay",
  ],
  [
    "leaf of the last proof is the cash of its user",
    "delete from ledger.posted_entries where account_id = ledger.user_account_id(:fay)",
  ],
  [
    "leaf of the last proof has the last entry of its user",
    `update ledger.balance_proofs set published_at = published_at + interval '1 hour';
     update ledger.proof_leaves set account_version = account_version - 1 where user_id = :fay`,
  ],
  [
    "user of the last proof has a leaf",
    `update ledger.balance_proofs set published_at = published_at + interval '1 hour';
     update ledger.proof_leaves set public_id = gen_random_uuid() where user_id = :fay`,
  ],
  [
    "user of the last proof has a leaf",
    `update ledger.balance_proofs set published_at = published_at + interval '1 hour';
     delete from ledger.proof_leaves where user_id = :fay`,
  ],
  [
    "node of the last proof is made of what is below",
    "update ledger.proof_leaves set salt = sha256(salt) where user_id = :fay",
  ],
  [
    "node of the last proof is made of what is below",
    "update ledger.proof_leaves set public_id = gen_random_uuid() where user_id = :fay",
  ],
  [
    "node of the last proof is made of what is below",
    "update ledger.proof_leaves set leaf_index = 1000 where user_id = :fay",
  ],
  [
    "node of the last proof is made of what is below",
    "delete from ledger.proof_leaves where user_id = :fay",
  ],
  [
    "node of the last proof is made of what is below",
    "update ledger.proof_nodes set sum_cents = sum_cents + 1 where level = 1 and position = 0",
  ],
  [
    "node of the last proof is made of what is below",
    "delete from ledger.proof_nodes where level = 1 and position = 1",
  ],
  [
    "node of the last proof is made of what is below",
    `insert into ledger.proof_nodes (level, position, sum_cents, hash)
     select max(level) + 1, 0, 0, sha256('') from ledger.proof_nodes`,
  ],
  [
    "last proof is that of its leaves and of the ledger",
    "update ledger.balance_proofs set root = sha256(root)",
  ],
  [
    "last proof is that of its leaves and of the ledger",
    `update ledger.balance_proofs
     set total_cents = total_cents + 1, escrow_cents = escrow_cents - 1`,
  ],
  [
    "last proof is that of its leaves and of the ledger",
    `update ledger.balance_proofs
     set receivable_cents = receivable_cents + 1, escrow_cents = escrow_cents + 1`,
  ],
  [
    "last proof is that of its leaves and of the ledger",
    `update ledger.balance_proofs
     set outside_cents = outside_cents - 1, escrow_cents = escrow_cents + 1`,
  ],
  [
    "last proof is that of its leaves and of the ledger",
    "update ledger.balance_proofs set outside_version = outside_version - 1",
  ],
  [
    "last proof is that of its leaves and of the ledger",
    "update ledger.balance_proofs set leaf_count = leaf_count + 1",
  ],
  ["last proof is that of its leaves and of the ledger", "delete from ledger.balance_proofs"],
];
