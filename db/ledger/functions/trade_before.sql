create or replace function ledger.trade_before(at timestamptz)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (
      select t.id
      from trading.trades as t
      where t.public_id < core.uuid_v7_at(trade_before.at - interval '10 minutes')
      order by t.public_id desc
      limit 1
    ),
    0
  )
$$;

comment on function ledger.trade_before(timestamptz) is
  'The id of a trade so long before a time that all trades from that time on have higher ids: ten '
  'minutes, in which every transaction has ended. 0 without one. Cost: one row.';
