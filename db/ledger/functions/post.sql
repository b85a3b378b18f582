create or replace function ledger.post(entries ledger.entry[], at timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_today date := (post.at at time zone 'UTC')::date;
begin
  -- The rows of each account come in the order of its versions: the last one is where it ends.
  -- Accounts are found by their ids and not by a join: no plan can do worse than look each up.
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
  ends as materialized (
    select
      array_agg(l.account_id) as ids,
      array_agg(l.balance_after_cents) as balances,
      array_agg(l.account_version) as versions
    from (
      select distinct on (e.account_id) e.account_id, e.balance_after_cents, e.account_version
      from unnest(post.entries) as e
      order by e.account_id, e.account_version desc
    ) as l
  ),
  opened as (
    insert into ledger.day_openings (account_id, day, balance_cents, external_cents)
    select a.id, v_today, a.balance_cents, a.external_cents
    from ledger.accounts as a
    where a.id = any ((select ends.ids from ends)::bigint[])
      and a.kind = 'user_cash'
      and a.moved_on < v_today
  )
  update ledger.accounts as a set
    balance_cents = (select ends.balances from ends)[
      array_position((select ends.ids from ends), a.id)
    ],
    version = (select ends.versions from ends)[
      array_position((select ends.ids from ends), a.id)
    ],
    overdraft_cents = case when a.overdraft_cents = 0 then 0 else least(
      a.overdraft_cents,
      greatest(0, -(select ends.balances from ends)[
        array_position((select ends.ids from ends), a.id)
      ])
    ) end,
    moved_on = greatest(a.moved_on, v_today)
  where a.id = any ((select ends.ids from ends)::bigint[]);
end
$$;

comment on function ledger.post(ledger.entry[], timestamptz) is
  'Writes the lines of one or more journals and moves the accounts to the last of them. The '
  'caller has locked the accounts, written the journals and numbered the lines; the constraints '
  'and ledger.verify() hold it to that.';
