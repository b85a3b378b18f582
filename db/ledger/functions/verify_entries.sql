create or replace function ledger.verify_entries()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'journal sums to zero', 'journal ' || e.journal_id, '0', sum(e.amount_cents)::text
  from ledger.entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0

  union all
  select 'entry belongs to a journal', 'journal ' || e.journal_id, 'a journal', 'none'
  from ledger.entries as e
  where not exists (select from ledger.journals as j where j.id = e.journal_id)

  union all
  select 'entry belongs to an account', 'account ' || e.account_id, 'an account', 'none'
  from ledger.entries as e
  where not exists (select from ledger.accounts as a where a.id = e.account_id)
  group by e.account_id

  union all
  select 'entry starts at the balance of the one before',
    'account ' || e.account_id || ' version ' || e.account_version,
    e.expected_cents::text, e.balance_before_cents::text
  from (
    select
      x.account_id,
      x.account_version,
      x.balance_before_cents,
      lag(x.balance_after_cents, 1, 0::bigint)
        over (partition by x.account_id order by x.account_version) as expected_cents
    from ledger.entries as x
  ) as e
  where e.balance_before_cents <> e.expected_cents

  union all
  select 'only a correction takes an account below zero',
    'account ' || e.account_id || ' version ' || e.account_version,
    'a correction', concat_ws(' ', j.kind, 'to', e.balance_after_cents)
  from ledger.entries as e
  join ledger.accounts as a on a.id = e.account_id
  left join ledger.journals as j on j.id = e.journal_id
  where e.balance_after_cents < 0
    and case a.kind
      when 'outside_world' then false
      when 'user_cash' then j.kind is distinct from 'correction' and e.amount_cents < 0
      else true
    end
$$;

comment on function ledger.verify_entries() is
  'The part of ledger.verify() about the lines of the journals: what can be seen in the lines of '
  'one journal and of one account. One row for each broken invariant.';
