create or replace function trading.disputable_until(market_id bigint)
returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select r.created_at + make_interval(hours => s.dispute_window_hours)
  from trading.resolutions as r
  cross join core.settings as s
  where r.market_id = disputable_until.market_id
    and s.dispute_window_hours > 0
    and not exists (
      select
      from trading.voids as v
      where v.market_id = r.market_id
        and v.trade_id is null
    )
  order by r.id desc
  limit 1
$$;

comment on function trading.disputable_until(bigint) is
  'When the window closes in which traders may dispute the resolution of a market that holds, '
  'which may be past; null for a market that is not resolved or is voided, and if there is no '
  'window.';
