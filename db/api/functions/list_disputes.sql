create or replace function api.list_disputes(user_id uuid, market_id uuid default null)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
  select json_build_object('data', coalesce(
    json_agg(
      json_build_object(
        'id', x.public_id,
        'marketId', x.market_id,
        'marketTitle', x.title,
        'outcome', x.outcome,
        'yesPayoutCents', x.yes_payout_cents,
        'resolvedAt', core.iso8601(x.resolved_at),
        'text', x.text,
        'createdAt', core.iso8601(x.created_at),
        'answer', x.answer,
        'answeredAt', core.iso8601(x.answered_at)
      )
      order by x.id desc
    ),
    '[]'
  ))
  from (
    select
      d.*, m.public_id as market_id, m.title, r.outcome, r.yes_payout_cents,
      r.created_at as resolved_at
    from trading.traders as t
    join trading.disputes as d on d.user_id = t.user_id
    join trading.resolutions as r on r.id = d.resolution_id
    join catalog.markets as m on m.id = r.market_id
    where t.public_id = list_disputes.user_id
      and (list_disputes.market_id is null or m.public_id = list_disputes.market_id)
    order by d.id desc
    limit 200
  ) as x
$$;

comment on function api.list_disputes(uuid, uuid) is
  'The body of GET /me/disputes: the disputes of a user, of all markets or of one, newest first, '
  'at most 200, with the resolution that each is about and what staff answered.';
