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
  due as (
    select m.day, m.account_kind, m.kind::text as item, m.amount_cents
    from moved as m
    where m.day >= v_first
    union all
    select d.day, k.kind, b.item, (
      select coalesce(sum(m.amount_cents), 0)
      from moved as m
      where m.account_kind = k.kind
        and m.day < d.day + b.days
    )
    from ledger.closed_days as d
    cross join unnest(enum_range(null::ledger.account_kind)) as k (kind)
    cross join (values ('opening', 0), ('closing', 1)) as b (item, days)
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
