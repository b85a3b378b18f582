-- On the warehouse, as superuser, after `npm run migrate` and before the subscription.

-- The migration makes a first fee schedule, which would collide with the copied one.
delete from trading.fee_schedules;

-- Columns that are not sent are null here.
alter table identity.users
  alter column email drop not null,
  alter column display_name drop not null,
  alter column handle drop not null;
alter table ledger.cash_movements
  alter column reference drop not null,
  drop constraint cash_movements_have_a_reason_if_they_adjust_or_reverse;
alter table ledger.fee_payouts alter column reference drop not null;
alter table trading.voids alter column reason drop not null;

-- Partitions that the primary makes meanwhile: their rows have a place here, whatever their month.
create table trading.archived_orders_of_all_months
  partition of trading.archived_orders (primary key (public_id)) default;
alter table trading.archived_orders_of_all_months owner to exchange_owner;
