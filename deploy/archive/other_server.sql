-- On the other server, as superuser, in a database that `npm run migrate` has made: the login of the
-- primary, and the tables of the months that are to move.

-- Once.
create role markets_archive login password 'change-me-8';
grant connect on database pgmarkets to markets_archive;
grant usage on schema trading to markets_archive;

-- Once for each month: change its name.
create table trading.archived_orders_2026_01 (
  like trading.archived_orders including all, primary key (public_id)
);
create trigger archived_orders_are_append_only
  before update or delete or truncate on trading.archived_orders_2026_01
  for each statement execute function ledger.refuse_change();
grant select, insert on trading.archived_orders_2026_01 to markets_archive;
