create or replace function trading.announce_closing(market_id bigint, user_ids bigint[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select trading.announce_to_many(
    'market_status',
    jsonb_build_object('marketId', m.public_id, 'status', 'closed'),
    array(
      select u.id
      from unnest(announce_closing.user_ids) as u (id)
      where not exists (
        select from trading.holdings as h
        where h.market_id = announce_closing.market_id
          and h.user_id = u.id
          and (h.yes_quantity > 0 or h.no_quantity > 0)
      )
      and not exists (
        select from trading.active_orders as o
        where o.user_id = u.id
          and o.market_id = announce_closing.market_id
      )
    )
  )
  from catalog.markets as m
  where m.id = announce_closing.market_id
$$;

comment on function trading.announce_closing(bigint, bigint[]) is
  'While a market is closed piece by piece: tells those of some users who have neither orders nor '
  'shares there any more, and so would not hear of its new status at the end. The caller holds the '
  'market''s lock.';
