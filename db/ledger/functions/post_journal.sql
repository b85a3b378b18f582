create or replace function ledger.post_journal(
  kind ledger.journal_kind,
  market_id bigint,
  account_ids bigint[],
  amounts_cents bigint[],
  at timestamptz
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := (post_journal.at at time zone 'UTC')::date;
  v_journal_id bigint;
begin
  insert into ledger.journals (kind, market_id, created_at)
  values (post_journal.kind, post_journal.market_id, post_journal.at)
  returning id into v_journal_id;

  with moving as materialized (
    select
      a.id, a.kind, a.balance_cents, a.external_cents, a.version, a.moved_on, l.amount_cents
    from unnest(post_journal.account_ids, post_journal.amounts_cents) as l (id, amount_cents)
    join ledger.accounts as a on a.id = l.id
  ),
  written as (
    insert into ledger.entries (
      journal_id, account_id, amount_cents,
      balance_before_cents, balance_after_cents, account_version
    )
    select
      v_journal_id, m.id, m.amount_cents,
      m.balance_cents, m.balance_cents + m.amount_cents, m.version + 1
    from moving as m
  ),
  opened as (
    insert into ledger.day_openings (account_id, day, balance_cents, external_cents)
    select m.id, v_today, m.balance_cents, m.external_cents
    from moving as m
    where m.kind = 'user_cash'
      and m.moved_on < v_today
  )
  update ledger.accounts as a set
    balance_cents = m.balance_cents + m.amount_cents,
    version = m.version + 1,
    overdraft_cents = case
      when a.kind = 'user_cash' and post_journal.kind = 'correction'
        then greatest(0, -(m.balance_cents + m.amount_cents))
      else least(a.overdraft_cents, greatest(0, -(m.balance_cents + m.amount_cents)))
    end,
    moved_on = greatest(m.moved_on, v_today)
  from moving as m
  where a.id = m.id;

  return v_journal_id;
end
$$;

comment on function ledger.post_journal(
  ledger.journal_kind, bigint, bigint[], bigint[], timestamptz
) is
  'Writes one journal that moves each of some accounts once, by the amount at the same place, and '
  'moves the accounts; returns its id. It may be long: all work goes by sets. Only a correction '
  'may take a user below zero. The caller has locked the accounts. A batch of orders, whose '
  'journals move an account many times, goes by ledger.post.';
