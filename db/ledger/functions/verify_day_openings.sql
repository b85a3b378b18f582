create or replace function ledger.verify_day_openings()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- The days as the account saw them: should the clock have been set back over midnight, the
  -- entries of the earlier day count for the later one.
  moves as (
    select
      e.account_id, e.account_version, e.balance_before_cents,
      (j.created_at at time zone 'UTC')::date as day,
      max((j.created_at at time zone 'UTC')::date) over earlier as moved_on,
      coalesce(
        sum(e.amount_cents) filter (where j.kind in ('deposit', 'withdrawal')) over earlier, 0
      ) as external_cents
    from ledger.entries as e
    join ledger.journals as j on j.id = e.journal_id
    window earlier as (
      partition by e.account_id order by e.account_version
      rows between unbounded preceding and 1 preceding
    )
  ),
  openings as (
    select m.account_id, m.day, m.balance_before_cents as balance_cents, m.external_cents
    from moves as m
    join ledger.accounts as a on a.id = m.account_id
    where a.kind = 'user_cash'
      and (m.moved_on is null or m.day > m.moved_on)
  )
  select 'day opening belongs to a user''s account',
    'account ' || d.account_id || ' day ' || d.day, 'a user''s account', 'none'
  from ledger.day_openings as d
  where not exists (
    select from ledger.accounts as a where a.id = d.account_id and a.kind = 'user_cash'
  )

  union all
  select 'day opening is the account before the first entry of the day',
    'account ' || coalesce(o.account_id, d.account_id) || ' day ' || coalesce(o.day, d.day),
    coalesce(o.balance_cents || ' of ' || o.external_cents, 'none'),
    coalesce(d.balance_cents || ' of ' || d.external_cents, 'none')
  from openings as o
  full join ledger.day_openings as d on d.account_id = o.account_id and d.day = o.day
  where (o.balance_cents, o.external_cents)
    is distinct from (d.balance_cents, d.external_cents::numeric)

  union all
  select 'account moved last on the day of its last entry', 'account ' || a.id,
    coalesce(o.moved_on, '-infinity')::text, a.moved_on::text
  from ledger.accounts as a
  left join (
    select x.account_id, max(x.day) as moved_on
    from openings as x
    group by x.account_id
  ) as o on o.account_id = a.id
  where a.kind = 'user_cash'
    and a.moved_on <> coalesce(o.moved_on, '-infinity')
$$;

comment on function ledger.verify_day_openings() is
  'The part of ledger.verify() about ledger.day_openings, by which loss limits are judged: there '
  'is one for each day on which a user''s cash moved, with the figures before the first movement. '
  'One row for each broken invariant.';
