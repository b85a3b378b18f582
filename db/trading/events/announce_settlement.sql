create or replace function trading.announce_settlement(
  resolution_id bigint, market_id bigint, outcome catalog.outcome
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select trading.announce_to_many(
    'market_settled',
    jsonb_build_object(
      'marketId', m.public_id,
      'outcome', announce_settlement.outcome,
      'resolutionId', announce_settlement.resolution_id
    ),
    s.user_ids,
    s.balances_cents
  )
  from catalog.markets as m
  cross join (
    select
      array_agg(t.user_id order by t.user_id) as user_ids,
      array_agg(t.balance_cents order by t.user_id) as balances_cents
    from trading.traders as t
    where t.user_id in (
      select x.user_id
      from trading.settlements as x
      where x.resolution_id = announce_settlement.resolution_id
    )
  ) as s
  where m.id = announce_settlement.market_id
    and s.user_ids is not null
$$;

comment on function trading.announce_settlement(bigint, bigint, catalog.outcome) is
  'Writes a resolution to the outbox for the users whose positions it settled, with their balances '
  'after it. What each was paid is in trading.settlements.';
