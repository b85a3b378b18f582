create or replace function ledger.figures_of_day(day date, closed_before bigint)
returns table (account_kind ledger.account_kind, item text, amount_cents bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with moved as (
    select
      m.account_kind,
      case when m.day < figures_of_day.day then 'opening' else m.kind::text end as item,
      m.amount_cents
    from ledger.moved_by_day(
      case when figures_of_day.closed_before is not null then figures_of_day.day end,
      figures_of_day.day
    ) as m
    union all
    select f.account_kind, 'opening', f.amount_cents
    from ledger.closed_figures as f
    where f.closed_day_id = figures_of_day.closed_before
      and f.item = 'closing'
    union all
    select k.kind, 'opening', 0
    from unnest(enum_range(null::ledger.account_kind)) as k (kind)
  )
  select m.account_kind, m.item, sum(m.amount_cents)::bigint
  from moved as m
  group by 1, 2
  union all
  select m.account_kind, 'closing', sum(m.amount_cents)::bigint
  from moved as m
  group by 1
$$;

comment on function ledger.figures_of_day(date, bigint) is
  'The figures of a UTC day, as ledger.closed_figures keeps them: from the closing balances of the '
  'closed day with this id, or without one from all that was booked before.';
