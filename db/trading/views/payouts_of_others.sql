create or replace view trading.payouts_of_others as
select
  m.event_id,
  m.id as market_id,
  coalesce(o.yes_payout_cents, 0)::int as yes_payout_cents,
  coalesce(o.are_resolved, true) as are_resolved,
  o.title
from catalog.events as e
join catalog.markets as m on m.event_id = e.id
cross join lateral (
  select
    sum(other.yes_payout_cents) filter (where v.id is null) as yes_payout_cents,
    bool_and(other.status = 'resolved' and v.id is null) as are_resolved,
    (
      array_agg(other.title order by other.yes_payout_cents desc, other.id)
      filter (where other.status = 'resolved' and v.id is null)
    )[1] as title
  from catalog.markets as other
  left join trading.voids as v on v.market_id = other.id and v.trade_id is null
  where other.event_id = m.event_id
    and other.id <> m.id
) as o
where e.exclusive;

comment on view trading.payouts_of_others is
  'For each market of an exclusive event, what the YES shares of the event''s other markets pay. '
  'A voided market pays nothing.';
comment on column trading.payouts_of_others.event_id is 'catalog.events.id.';
comment on column trading.payouts_of_others.market_id is 'catalog.markets.id.';
comment on column trading.payouts_of_others.yes_payout_cents is
  'Sum over the other markets that are resolved, 0 to 100.';
comment on column trading.payouts_of_others.are_resolved is
  'Whether all others are resolved and none was voided; true if there is no other.';
comment on column trading.payouts_of_others.title is
  'The question of the other market that pays most; null if none is resolved.';
