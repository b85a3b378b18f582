create or replace function trading.user_lines()
returns table (
  journal_id bigint, market_id bigint, user_id bigint, amount_cents bigint, escrow_cents bigint
)
language sql stable
begin atomic
  select
    c.journal_id, c.market_id, c.user_id, x.sign * 100 * c.quantity, x.sign * -100 * c.quantity
  from trading.set_conversions as c
  cross join lateral (
    select case c.kind when 'split' then -1 else 1 end::bigint as sign
  ) as x
  where c.side is null
  union all
  select
    c.journal_id, min(c.market_id), c.user_id,
    100 * c.quantity::bigint
      * case c.kind when 'redeem' then 1 else count(*) filter (where c.side = 'no') - 1 end,
    0
  from trading.set_conversions as c
  where c.side is not null
  group by c.journal_id, c.user_id, c.kind, c.quantity
  union all
  select c.journal_id, c.market_id, c.user_id, 0, -100 * c.quantity::bigint
  from trading.set_conversions as c
  where c.side = 'no'
  union all
  select
    r.journal_id, r.market_id, s.user_id,
    sum(case when s.resolution_id = r.id then s.payout_cents else -s.payout_cents end),
    sum(
      case when s.side = 'no' and r.corrects_resolution_id is null then -100 * s.quantity else 0 end
    )
  from trading.resolutions as r
  join trading.settlements as s on s.resolution_id in (r.id, r.corrects_resolution_id)
  group by r.id, s.user_id;
end;

comment on function trading.user_lines() is
  'What splits, merges, conversions, resolutions and corrections move on the account of a user, '
  'and on the escrow of the market: 100 cents for each NO share that is made or gone. For '
  'ledger.verify_journals().';
