create table trading.order_reductions (
  order_id bigint not null,
  quantity_before trading.order_quantity not null,
  quantity_after trading.order_quantity not null,
  at timestamptz not null,
  primary key (order_id, quantity_after),
  constraint order_reductions_leave_less check (quantity_after < quantity_before)
);

create trigger order_reductions_are_append_only
  before update or delete or truncate on trading.order_reductions
  for each statement execute function ledger.refuse_change();

comment on table trading.order_reductions is
  'Shares that amendments took off orders which kept their place in the queue: the only change of '
  'an order that its own row does not show. Books of the past need it. Append-only. No foreign '
  'key: the order may be in the archive.';
comment on column trading.order_reductions.quantity_before is
  'Shares ordered until then, of which some may have been filled.';
