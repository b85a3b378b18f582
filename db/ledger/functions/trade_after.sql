create or replace function ledger.trade_after(at timestamptz)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (
      select t.id
      from trading.trades as t
      where t.public_id >= core.uuid_v7_at(
        nullif(trade_after.at, 'infinity') + interval '10 minutes'
      )
      order by t.public_id
      limit 1
    ),
    9223372036854775807
  )
$$;

comment on function ledger.trade_after(timestamptz) is
  'The id of a trade so long after a time that all trades before that time have lower ids: see '
  'ledger.trade_before. The highest bigint without one, and for infinity. Cost: one row.';
