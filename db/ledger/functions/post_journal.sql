create or replace function ledger.post_journal(
  kind ledger.journal_kind,
  market_id bigint,
  account_ids bigint[],
  amounts_cents bigint[],
  at timestamptz
)
returns bigint
language plpgsql
as $$
declare
  v_today constant date := (post_journal.at at time zone 'UTC')::date;
  v_journal_id bigint;
begin
  perform ledger.check_day(post_journal.at);
  insert into ledger.posted_journals (kind, market_id, created_at)
  values (post_journal.kind, post_journal.market_id, post_journal.at)
  returning id into v_journal_id;

  -- An account's id modulo 4 is its kind, and its id divided by 4 the key of the row that has it.
  with lines as materialized (
    select l.account_id, l.account_id / 4 as owner_id, l.account_id % 4 as place, l.amount_cents
    from unnest(post_journal.account_ids, post_journal.amounts_cents) as l (
      account_id, amount_cents
    )
  ),
  users as materialized (
    select
      l.account_id, l.amount_cents, t.user_id, t.balance_cents, t.external_cents,
      t.account_version::bigint as version, t.moved_on
    from lines as l
    join trading.traders as t on t.user_id = l.owner_id
    where l.place = 0
  ),
  markets as materialized (
    select
      l.owner_id as market_id,
      coalesce(sum(l.amount_cents) filter (where l.place = 1), 0)::bigint as escrow_cents,
      count(*) filter (where l.place = 1) as escrow_lines,
      coalesce(sum(l.amount_cents) filter (where l.place = 2), 0)::bigint as revenue_cents,
      count(*) filter (where l.place = 2) as revenue_lines
    from lines as l
    where l.place in (1, 2)
    group by l.owner_id
  ),
  events as materialized (
    select l.account_id, l.amount_cents, e.id, e.escrow_cents, e.escrow_version::bigint as version
    from lines as l
    join catalog.events as e on e.id = l.owner_id
    where l.place = 3
      and l.account_id <> ledger.outside_account_id()
  ),
  written as (
    insert into ledger.posted_entries (
      journal_id, account_id, amount_cents,
      balance_before_cents, balance_after_cents, account_version
    )
    select
      v_journal_id, m.account_id, m.amount_cents,
      m.balance_cents, m.balance_cents + m.amount_cents, m.version + 1
    from (
      select u.account_id, u.amount_cents, u.balance_cents, u.version
      from users as u
      union all
      select e.account_id, e.amount_cents, e.escrow_cents, e.version
      from events as e
      union all
      select
        l.account_id, l.amount_cents,
        case l.place when 1 then s.escrow_cents else s.revenue_cents end,
        case l.place when 1 then s.escrow_version else s.revenue_version end
      from lines as l
      join trading.market_state as s on s.market_id = l.owner_id
      where l.place in (1, 2)
      union all
      select l.account_id, l.amount_cents, w.balance_cents, w.account_version
      from lines as l
      cross join ledger.outside_world as w
      where l.account_id = ledger.outside_account_id()
    ) as m
  ),
  opened as (
    insert into ledger.day_openings (user_id, day, balance_cents, external_cents)
    select u.user_id, v_today, u.balance_cents, u.external_cents
    from users as u
    where u.moved_on < v_today
  ),
  outside as (
    update ledger.outside_world as w set
      balance_cents = w.balance_cents + l.amount_cents,
      account_version = w.account_version + 1
    from lines as l
    where l.account_id = ledger.outside_account_id()
  ),
  moved_events as (
    update catalog.events as x set
      escrow_cents = x.escrow_cents + e.amount_cents,
      escrow_version = x.escrow_version + 1
    from events as e
    where x.id = e.id
  ),
  moved_markets as (
    update trading.market_state as s set
      escrow_cents = s.escrow_cents + m.escrow_cents,
      escrow_version = s.escrow_version + m.escrow_lines,
      revenue_cents = s.revenue_cents + m.revenue_cents,
      revenue_version = s.revenue_version + m.revenue_lines
    from markets as m
    where s.market_id = m.market_id
  )
  update trading.traders as t set
    balance_cents = u.balance_cents + u.amount_cents,
    account_version = u.version + 1,
    overdraft_cents = case
      when post_journal.kind in ('correction', 'void', 'reversal')
        then greatest(0, -(u.balance_cents + u.amount_cents))
      else least(t.overdraft_cents, greatest(0, -(u.balance_cents + u.amount_cents)))
    end,
    moved_on = greatest(u.moved_on, v_today)
  from users as u
  where t.user_id = u.user_id;

  return v_journal_id;
end
$$;

comment on function ledger.post_journal(
  ledger.journal_kind, bigint, bigint[], bigint[], timestamptz
) is
  'Writes one journal that moves each of some accounts once, by the amount at the same place, and '
  'moves the accounts; returns its id. The accounts are given by their ids in ledger.accounts. It '
  'may be long: each statement works on the whole set. Only a correction, a void or a reversal '
  'may take a user below zero. The caller has locked the accounts. Trades do not use it: a trade '
  'is its own journal. Error: INVALID_STATE when the amounts do not sum to zero, as when an '
  'account does not exist; 40001 if the day of the time given has ended.';
