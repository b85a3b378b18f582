create table ledger.awaited_orders (
  order_id bigint primary key
);

comment on table ledger.awaited_orders is
  'The orders that a block left out because they were open, and that no later block has: of all '
  'blocks, open_order_ids less ended_order_ids. Written by ledger.seal().';
