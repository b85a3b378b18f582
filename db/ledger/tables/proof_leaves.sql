create table ledger.proof_leaves (
  leaf_index core.amount primary key,
  user_id bigint not null,
  public_id uuid not null,
  balance_cents core.amount not null,
  account_version core.amount not null,
  salt bytea not null,
  constraint proof_leaves_are_one_for_each_user unique (public_id),
  constraint proof_leaves_have_salts_of_32_bytes check (length(salt) = 32)
);

comment on table ledger.proof_leaves is
  'The leaves of the last of ledger.balance_proofs, one for each user, in random order. The next '
  'proof replaces them. The salts are secrets: with one, somebody can guess the user and the cash '
  'of a leaf. No foreign keys: a user who never signed in may be removed, and a reference would '
  'lock the rows of users.';
comment on column ledger.proof_leaves.leaf_index is 'The place in the tree, from 0.';
comment on column ledger.proof_leaves.public_id is
  'identity.users.public_id, which is in the hash.';
comment on column ledger.proof_leaves.balance_cents is 'The cash; 0 if it was below zero.';
comment on column ledger.proof_leaves.account_version is
  'The number of the user''s last entry at the moment of the proof: the cash is that after it.';
comment on column ledger.proof_leaves.salt is '32 random bytes.';
