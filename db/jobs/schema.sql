create schema jobs authorization exchange_owner;
comment on schema jobs is
  'What time brings about, in pieces that are each one short transaction: a function does one '
  'piece and returns how much that was, 0 when nothing is left. For role exchange_worker.';
