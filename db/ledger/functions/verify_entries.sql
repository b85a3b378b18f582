create or replace function ledger.verify_entries()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- All lines of journals; of trades also those of 0 cents.
  legs as (
    select e.account_id, e.account_version, e.journal_id, e.amount_cents, e.balance_after_cents
    from ledger.posted_entries as e
    union all
    select l.account_id, l.account_version, t.id, l.amount_cents, l.balance_after_cents
    from trading.trades as t
    cross join lateral (
      values
        (
          ledger.user_account_id(t.taker_user_id), t.taker_version,
          t.taker_cents, t.taker_balance_cents
        ),
        (
          ledger.user_account_id(t.maker_user_id), t.maker_version,
          t.maker_cents, t.maker_balance_cents
        ),
        (
          ledger.escrow_account_id(t.market_id), t.escrow_version,
          -(t.taker_cents + t.maker_cents + t.fee_cents), t.escrow_balance_cents
        ),
        (
          ledger.revenue_account_id(t.market_id), t.revenue_version,
          t.fee_cents, t.revenue_balance_cents
        )
    ) as l (account_id, account_version, amount_cents, balance_after_cents)
  ),
  steps as (
    select
      l.*,
      lag(l.account_version, 1, 0::bigint) over w as version_before,
      lag(l.balance_after_cents, 1, 0::bigint) over w as balance_before_cents,
      lag(l.journal_id, 1, 0::bigint) over w as journal_id_before
    from legs as l
    window w as (partition by l.account_id order by l.account_version, l.journal_id)
  ),
  broken_steps as materialized (
    select s.*
    from steps as s
    where s.balance_after_cents <> s.balance_before_cents + s.amount_cents
      or s.account_version <> s.version_before + (s.amount_cents <> 0)::int
      or s.journal_id <= s.journal_id_before
  )
  -- What escrow gets of a trade is what its other lines leave.
  select 'journal sums to zero', 'journal ' || e.journal_id, '0', sum(e.amount_cents)::text
  from ledger.posted_entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0

  union all
  select 'entry belongs to a journal', 'journal ' || e.journal_id, 'a journal', 'none'
  from ledger.posted_entries as e
  where not exists (select from ledger.posted_journals as j where j.id = e.journal_id)

  union all
  select 'entry belongs to an account', 'account ' || e.account_id, 'an account', 'none'
  from ledger.entries as e
  where not exists (select from ledger.accounts as a where a.id = e.account_id)
  group by e.account_id

  union all
  select 'entry starts at the balance of the one before',
    'account ' || s.account_id || ' version ' || s.account_version,
    s.balance_before_cents::text, (s.balance_after_cents - s.amount_cents)::text
  from broken_steps as s
  where s.amount_cents <> 0
    and s.balance_after_cents <> s.balance_before_cents + s.amount_cents

  union all
  select 'versions of an account have no gap',
    'account ' || s.account_id || ' journal ' || s.journal_id,
    (s.version_before + 1)::text, s.account_version::text
  from broken_steps as s
  where s.amount_cents <> 0
    and s.account_version <> s.version_before + 1

  union all
  select 'a leg of 0 cents keeps balance and version',
    'account ' || s.account_id || ' trade ' || s.journal_id,
    s.balance_before_cents || ' at ' || s.version_before,
    s.balance_after_cents || ' at ' || s.account_version
  from broken_steps as s
  where s.amount_cents = 0
    and (s.balance_after_cents, s.account_version)
      <> (s.balance_before_cents, s.version_before)

  -- A journal gets its id once its accounts are locked.
  union all
  select 'journals of an account have the order of its versions',
    'account ' || s.account_id || ' version ' || s.account_version,
    '> ' || s.journal_id_before, s.journal_id::text
  from broken_steps as s
  where s.journal_id <= s.journal_id_before

  union all
  select 'only a correction, void or reversal takes an account below zero',
    'account ' || e.account_id || ' version ' || e.account_version,
    'one of them', concat_ws(' ', coalesce(j.kind::text, 'trade'), 'to', e.balance_after_cents)
  from ledger.entries as e
  left join ledger.posted_journals as j on j.id = e.journal_id
  where e.balance_after_cents < 0
    and case e.account_id % 4
      when 3 then false
      when 0 then e.amount_cents < 0
        and coalesce(j.kind, 'trade') not in ('correction', 'void', 'reversal')
      else true
    end
$$;

comment on function ledger.verify_entries() is
  'The part of ledger.verify() about the lines of the journals, those of trades included: what can '
  'be seen in the lines of one journal and of one account. One row for each broken invariant.';
