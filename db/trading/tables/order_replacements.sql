create table trading.order_replacements (
  order_id bigint primary key,
  replaced_order_id bigint not null,
  constraint order_replacements_are_of_different_orders check (order_id > replaced_order_id),
  constraint order_replacements_happen_once_to_an_order unique (replaced_order_id)
);

create trigger order_replacements_are_append_only
  before update or delete or truncate on trading.order_replacements
  for each statement execute function ledger.refuse_change();

comment on table trading.order_replacements is
  'Which order an amendment put in the place of which. Amendments before version 0.3.0 have no '
  'row. Append-only. No foreign keys: see trading.active_orders.';
