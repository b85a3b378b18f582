create or replace function api.get_market_resolution(market_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'outcome', m.resolved_outcome,
    'yesPayoutCents', m.yes_payout_cents,
    'noPayoutCents', 100 - m.yes_payout_cents,
    'resolvedAt', core.iso8601(m.resolved_at),
    'correctedAt', (
      select core.iso8601(r.created_at)
      from trading.resolutions as r
      where r.market_id = m.id
        and r.corrects_resolution_id is not null
      order by r.id desc
      limit 1
    ),
    'voidedAt', (
      select core.iso8601(v.created_at)
      from trading.voids as v
      where v.market_id = m.id
        and v.trade_id is null
    )
  )
  from catalog.markets as m
  where m.public_id = get_market_resolution.market_id
    and m.status = 'resolved'
$$;

comment on function api.get_market_resolution(uuid) is
  'How a market was resolved, what its shares paid, and when it was last corrected or voided; null '
  'for a market that is unknown or not resolved.';
