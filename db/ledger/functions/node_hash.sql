create or replace function ledger.node_hash(
  left_cents bigint, left_hash bytea, right_cents bigint, right_hash bytea
)
returns bytea
language sql immutable parallel safe
return sha256(
  decode('01', 'hex') || int8send(left_cents) || left_hash || int8send(right_cents) || right_hash
);

comment on function ledger.node_hash(bigint, bytea, bigint, bytea) is
  'The hash of a node above leaves of a proof of balances: the SHA-256 of a byte 1, and of sum (8 '
  'bytes) and hash of both children. Each sum is in it by itself, so that neither can be below '
  'zero and hidden in the sum of both.';
