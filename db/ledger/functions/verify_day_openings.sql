create or replace function ledger.verify_day_openings()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- The days as the account saw them: should the clock have been set back over midnight, the
  -- entries of the earlier day count for the later one.
  movements as (
    select
      e.account_id / 4 as user_id, e.account_version, e.balance_before_cents, j.created_at,
      case
        when j.kind in ('deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal')
          then e.amount_cents
      end as external_cents
    from ledger.posted_entries as e
    join ledger.posted_journals as j on j.id = e.journal_id
    where e.account_id % 4 = 0
    union all
    select
      t.taker_user_id, t.taker_version, t.taker_balance_cents - t.taker_cents, t.created_at, null
    from trading.trades as t
    where t.taker_cents <> 0
    union all
    select
      t.maker_user_id, t.maker_version, t.maker_balance_cents - t.maker_cents, t.created_at, null
    from trading.trades as t
    where t.maker_cents <> 0
  ),
  moves as (
    select
      m.user_id, m.balance_before_cents,
      (m.created_at at time zone 'UTC')::date as day,
      max((m.created_at at time zone 'UTC')::date) over earlier as moved_on,
      coalesce(sum(m.external_cents) over earlier, 0) as external_cents
    from movements as m
    window earlier as (
      partition by m.user_id order by m.account_version
      rows between unbounded preceding and 1 preceding
    )
  ),
  openings as (
    select m.user_id, m.day, m.balance_before_cents as balance_cents, m.external_cents
    from moves as m
    where m.moved_on is null or m.day > m.moved_on
  )
  select 'day opening belongs to a user', 'user ' || d.user_id || ' day ' || d.day,
    'a user', 'none'
  from ledger.day_openings as d
  where not exists (select from trading.traders as t where t.user_id = d.user_id)

  union all
  select 'day opening is the account before the first entry of the day',
    'user ' || coalesce(o.user_id, d.user_id) || ' day ' || coalesce(o.day, d.day),
    coalesce(o.balance_cents || ' of ' || o.external_cents, 'none'),
    coalesce(d.balance_cents || ' of ' || d.external_cents, 'none')
  from openings as o
  full join ledger.day_openings as d on d.user_id = o.user_id and d.day = o.day
  where (o.balance_cents, o.external_cents)
    is distinct from (d.balance_cents, d.external_cents::numeric)

  union all
  select 'account moved last on the day of its last entry', 'user ' || t.user_id,
    coalesce(o.moved_on, '-infinity')::text, t.moved_on::text
  from trading.traders as t
  left join (
    select x.user_id, max(x.day) as moved_on
    from openings as x
    group by x.user_id
  ) as o on o.user_id = t.user_id
  where t.moved_on <> coalesce(o.moved_on, '-infinity')
$$;

comment on function ledger.verify_day_openings() is
  'The part of ledger.verify() about ledger.day_openings, by which loss limits are judged: there '
  'is one for each day on which a user''s cash moved, with the figures before the first movement. '
  'One row for each broken invariant.';
