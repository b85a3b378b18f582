create table ledger.balance_proofs (
  id bigint generated always as identity primary key,
  published_at timestamptz not null,
  leaf_count core.amount not null,
  total_cents core.amount not null,
  receivable_cents core.amount not null,
  escrow_cents core.amount not null,
  revenue_cents core.amount not null,
  outside_cents bigint not null,
  outside_version core.amount not null,
  root bytea not null,
  constraint balance_proofs_sum_to_zero check (
    total_cents - receivable_cents + escrow_cents + revenue_cents + outside_cents = 0
  ),
  constraint balance_proofs_have_roots_of_32_bytes check (length(root) = 32)
);

create trigger balance_proofs_are_append_only
  before update or delete or truncate on ledger.balance_proofs
  for each statement execute function ledger.refuse_change();

comment on table ledger.balance_proofs is
  'The published proofs of balances: the root and the total of a Merkle sum tree over the cash of '
  'all users at one moment, and the other accounts at that moment. Written by '
  'ledger.publish_proof(). Append-only.';
comment on column ledger.balance_proofs.published_at is
  'The moment of the balances: just before the snapshot that all of them were read in.';
comment on column ledger.balance_proofs.leaf_count is 'Users; each has a leaf.';
comment on column ledger.balance_proofs.total_cents is
  'The sum of all balances that were above zero: what the exchange owed its users in cash.';
comment on column ledger.balance_proofs.receivable_cents is
  'How far the other balances were below zero, all together.';
comment on column ledger.balance_proofs.escrow_cents is 'The escrow of all markets and events.';
comment on column ledger.balance_proofs.revenue_cents is 'The fee revenue of all markets.';
comment on column ledger.balance_proofs.outside_cents is
  'The balance of the outside world, after its entry outside_version.';
comment on column ledger.balance_proofs.root is
  'The hash of the top of the tree; without users the SHA-256 of nothing.';
