create table ledger.proof_nodes (
  level int not null,
  position core.amount not null,
  sum_cents core.amount not null,
  hash bytea not null,
  primary key (level, position)
);

comment on table ledger.proof_nodes is
  'The nodes of the tree of the last of ledger.balance_proofs: on level 0 those of its leaves, and '
  'on each level above one for each two below. The next proof replaces them.';
comment on column ledger.proof_nodes.level is '0 for the leaves; the root has the highest.';
comment on column ledger.proof_nodes.position is
  'From 0. Below it are the positions twice this and one more of the level before.';
comment on column ledger.proof_nodes.sum_cents is 'The sum of all leaves below.';
comment on column ledger.proof_nodes.hash is
  'ledger.leaf_hash or ledger.node_hash. A node with one child has the hash of that child.';
