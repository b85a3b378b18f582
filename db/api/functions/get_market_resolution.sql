create or replace function api.get_market_resolution(market_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'outcome', m.resolved_outcome,
      'yesPayoutCents', m.yes_payout_cents,
      'noPayoutCents', 100 - m.yes_payout_cents,
      'resolvedAt', core.iso8601(m.resolved_at),
      'correctedAt', case
        when r.corrects_resolution_id is not null then core.iso8601(r.created_at)
      end,
      'voidedAt', core.iso8601(v.created_at),
      'evidence', r.evidence,
      'sourceUrl', m.source_url,
      'disputeUntil', core.iso8601(trading.disputable_until(m.id)),
      'history', (
        select json_agg(
          json_build_object(
            'at', core.iso8601(h.created_at),
            'kind', h.kind,
            'outcome', h.outcome,
            'yesPayoutCents', h.yes_payout_cents,
            'reason', h.reason,
            'evidence', h.evidence
          )
          order by h.is_void, h.id
        )
        from (
          select
            false as is_void, x.id, x.created_at,
            case when x.corrects_resolution_id is null then 'resolved' else 'corrected' end as kind,
            x.outcome, x.yes_payout_cents, x.reason, x.evidence
          from trading.resolutions as x
          where x.market_id = m.id
          union all
          -- It ends the market, so it comes last.
          select
            true, v.id, v.created_at, 'voided', m.resolved_outcome, m.yes_payout_cents, v.reason,
            null
          where v.id is not null
        ) as h
      )
    )
    from catalog.markets as m
    left join lateral (
      select x.corrects_resolution_id, x.created_at, x.evidence
      from trading.resolutions as x
      where x.market_id = m.id
      order by x.id desc
      limit 1
    ) as r on true
    left join trading.voids as v on v.market_id = m.id and v.trade_id is null
    where m.public_id = get_market_resolution.market_id
      and m.status = 'resolved'
  );
end
$$;

comment on function api.get_market_resolution(uuid) is
  'How a market was resolved, what its shares paid and on what evidence, with all resolutions and '
  'corrections and the void, in their order; null for a market that is unknown or not resolved.';
