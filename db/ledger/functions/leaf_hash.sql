create or replace function ledger.leaf_hash(
  salt bytea, public_id uuid, leaf_index bigint, balance_cents bigint
)
returns bytea
language sql immutable parallel safe
return sha256(
  decode('00', 'hex') || salt || uuid_send(public_id) || int8send(leaf_index)
    || int8send(balance_cents)
);

comment on function ledger.leaf_hash(bytea, uuid, bigint, bigint) is
  'The hash of a leaf of a proof of balances: the SHA-256 of a byte 0, the salt, the user''s '
  'public id, and the place and the balance as numbers of 8 bytes.';
