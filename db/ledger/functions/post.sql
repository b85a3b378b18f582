create or replace function ledger.post(entries ledger.entry[], at timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_today date := (post.at at time zone 'UTC')::date;
begin
  insert into ledger.day_openings (account_id, day, balance_cents, external_cents)
  select a.id, v_today, a.balance_cents, a.external_cents
  from ledger.accounts as a
  where a.id in (select e.account_id from unnest(post.entries) as e)
    and a.kind = 'user_cash'
    and a.moved_on < v_today;

  update ledger.accounts as a set
    balance_cents = e.balance_after_cents,
    version = e.account_version,
    overdraft_cents = least(a.overdraft_cents, greatest(0, -e.balance_after_cents)),
    moved_on = greatest(a.moved_on, v_today)
  from (
    select distinct on (u.account_id) u.account_id, u.balance_after_cents, u.account_version
    from unnest(post.entries) as u
    order by u.account_id, u.account_version desc
  ) as e
  where a.id = e.account_id;

  insert into ledger.entries (
    journal_id, account_id, amount_cents,
    balance_before_cents, balance_after_cents, account_version
  )
  select
    e.journal_id, e.account_id, e.amount_cents,
    e.balance_before_cents, e.balance_after_cents, e.account_version
  from unnest(post.entries) as e;
end
$$;

comment on function ledger.post(ledger.entry[], timestamptz) is
  'Writes the lines of one or more journals and moves the accounts to the last of them. The '
  'caller has locked the accounts, written the journals and numbered the lines; the constraints '
  'and ledger.verify() hold it to that.';
