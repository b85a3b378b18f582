create or replace function ledger.verify_closed_days()
returns table (name text, object text, expected text, found text)
language plpgsql stable
as $$
declare
  v_first date;
  v_last date;
begin
  select min(d.day), max(d.day) into v_first, v_last from ledger.closed_days as d;
  if v_first is null then
    return;
  end if;
  return query
  with moved as materialized (
    select m.* from ledger.moved_by_day(null, v_last) as m
  ),
  figures as (
    select d.day, f.account_kind, f.item, f.amount_cents
    from ledger.closed_figures as f
    join ledger.closed_days as d on d.id = f.closed_day_id
  ),
  balances as (
    select
      c.day, c.account_kind, bool_or(c.is_closed) as is_closed, sum(c.amount_cents) as moved_cents,
      sum(sum(c.amount_cents)) over (partition by c.account_kind order by c.day) as closing_cents
    from (
      select m.day, m.account_kind, false as is_closed, m.amount_cents
      from moved as m
      union all
      select d.day, k.kind, true, 0
      from ledger.closed_days as d
      cross join unnest(enum_range(null::ledger.account_kind)) as k (kind)
    ) as c
    group by c.account_kind, c.day
  ),
  due as (
    select m.day, m.account_kind, m.kind::text as item, m.amount_cents::numeric
    from moved as m
    where m.day >= v_first
    union all
    select b.day, b.account_kind, x.item, x.cents
    from balances as b
    cross join lateral (
      values ('opening', b.closing_cents - b.moved_cents), ('closing', b.closing_cents)
    ) as x (item, cents)
    where b.is_closed
  )
  select 'figure of a closed day is that of the ledger',
    concat_ws(
      ' ', coalesce(u.day, f.day), coalesce(u.account_kind, f.account_kind),
      coalesce(u.item, f.item)
    ),
    coalesce(u.amount_cents::text, 'none'), coalesce(f.amount_cents::text, 'none')
  from due as u
  full join figures as f
    on f.day = u.day
    and f.account_kind = u.account_kind
    and f.item = u.item
  where u.amount_cents is distinct from f.amount_cents

  union all
  select 'days are closed one after the other', 'closed day ' || d.day,
    (v_first + (d.place - 1)::int)::text, d.day::text
  from (
    select c.day, row_number() over (order by c.id) as place from ledger.closed_days as c
  ) as d
  where d.day <> v_first + (d.place - 1)::int;
end
$$;

comment on function ledger.verify_closed_days() is
  'The part of ledger.verify() about the days whose books are closed: their figures, and that no '
  'day is left out. One row for each broken invariant.';
