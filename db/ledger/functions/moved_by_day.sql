create or replace function ledger.moved_by_day(first_day date, last_day date)
returns table (
  day date, kind ledger.journal_kind, account_kind ledger.account_kind, amount_cents bigint
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with bounds as (
    select
      d.since, d.until,
      case when d.since = '-infinity' then 0 else ledger.trade_before(d.since) end as after_id,
      ledger.trade_after(d.until) as before_id
    from (
      select
        coalesce(moved_by_day.first_day::timestamp at time zone 'UTC', '-infinity'),
        (moved_by_day.last_day + 1)::timestamp at time zone 'UTC'
    ) as d (since, until)
  ),
  lines as (
    select
      j.created_at, j.kind,
      case e.account_id % 4
        when 0 then 'user_cash'::ledger.account_kind
        when 1 then 'market_escrow'
        when 2 then 'fee_revenue'
        else case e.account_id when 3 then 'outside_world' else 'event_escrow' end
          ::ledger.account_kind
      end as account_kind,
      e.amount_cents
    from bounds as b
    join ledger.posted_journals as j on j.id > b.after_id and j.id < b.before_id
    join ledger.posted_entries as e on e.journal_id = j.id
    union all
    select
      t.created_at, 'trade', x.account_kind, x.amount_cents
    from bounds as b
    join trading.trades as t on t.id > b.after_id and t.id < b.before_id
    cross join lateral (
      values
        ('user_cash'::ledger.account_kind, t.taker_cents + t.maker_cents),
        ('market_escrow', -(t.taker_cents + t.maker_cents + t.fee_cents)),
        ('fee_revenue', t.fee_cents)
    ) as x (account_kind, amount_cents)
  )
  select
    (l.created_at at time zone 'UTC')::date, l.kind, l.account_kind,
    sum(l.amount_cents)::bigint
  from lines as l
  cross join bounds as b
  where l.created_at >= b.since
    and l.created_at < b.until
  group by 1, 2, 3
$$;

comment on function ledger.moved_by_day(date, date) is
  'By how much the journals of each UTC day moved the balances of each kind of account, by the '
  'kind of the journals. Without a first day, from the beginning.';
