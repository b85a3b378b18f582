create schema jobs authorization exchange_owner;
comment on schema jobs is
  'Work that is due at some time, in pieces that are each one short transaction: a function does '
  'one piece and returns how much that was, 0 when nothing is left. For role exchange_worker.';
