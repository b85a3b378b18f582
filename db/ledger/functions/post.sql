create or replace function ledger.post(entries ledger.entry[], at timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := (post.at at time zone 'UTC')::date;
  v_ids bigint[];
  v_balances bigint[];
  v_versions bigint[];
begin
  select
    array_agg(l.account_id order by l.account_id),
    array_agg(l.balance_after_cents order by l.account_id),
    array_agg(l.account_version order by l.account_id)
  into v_ids, v_balances, v_versions
  from (
    select distinct on (e.account_id) e.account_id, e.balance_after_cents, e.account_version
    from unnest(post.entries) as e
    order by e.account_id, e.account_version desc
  ) as l;

  -- Accounts are found by their ids and not by a join: no plan can do worse than look each up.
  -- The place of one among the sorted ids is its bucket.
  with written as (
    insert into ledger.entries (
      journal_id, account_id, amount_cents,
      balance_before_cents, balance_after_cents, account_version
    )
    select
      e.journal_id, e.account_id, e.amount_cents,
      e.balance_before_cents, e.balance_after_cents, e.account_version
    from unnest(post.entries) as e
  ),
  opened as (
    insert into ledger.day_openings (account_id, day, balance_cents, external_cents)
    select a.id, v_today, a.balance_cents, a.external_cents
    from ledger.accounts as a
    where a.id = any (v_ids)
      and a.kind = 'user_cash'
      and a.moved_on < v_today
  )
  update ledger.accounts as a set
    balance_cents = v_balances[width_bucket(a.id, v_ids)],
    version = v_versions[width_bucket(a.id, v_ids)],
    overdraft_cents = least(
      a.overdraft_cents, greatest(0, -v_balances[width_bucket(a.id, v_ids)])
    ),
    moved_on = greatest(a.moved_on, v_today)
  where a.id = any (v_ids);
end
$$;

comment on function ledger.post(ledger.entry[], timestamptz) is
  'Writes the lines of one or more journals and moves the accounts to the last of them. The '
  'caller has locked the accounts, written the journals and numbered the lines; the constraints '
  'and ledger.verify() hold it to that.';
