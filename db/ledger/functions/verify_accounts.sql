create or replace function ledger.verify_accounts()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  entry_sums as (
    select
      e.account_id,
      sum(e.amount_cents) as balance_cents,
      count(*) as entry_count,
      max(e.account_version) as last_version
    from ledger.entries as e
    group by e.account_id
  ),
  payouts as (
    select
      coalesce(sum(p.amount_cents), 0)
        - (select coalesce(sum(v.outside_cents), 0) from trading.voids as v) as paid_cents
    from ledger.fee_payouts as p
  )
  select 'balance equals the sum of entries', 'account ' || a.id,
    coalesce(s.balance_cents, 0)::text, a.balance_cents::text
  from ledger.accounts as a
  left join entry_sums as s on s.account_id = a.id
  where a.balance_cents <> coalesce(s.balance_cents, 0)

  union all
  select 'version equals the number of entries', 'account ' || a.id,
    coalesce(s.entry_count, 0)::text, a.version || ' and last ' || coalesce(s.last_version, 0)
  from ledger.accounts as a
  left join entry_sums as s on s.account_id = a.id
  where a.version <> coalesce(s.entry_count, 0)
    or a.version <> coalesce(s.last_version, 0)

  union all
  select 'balance is not below zero', 'account ' || a.id, '>= 0', a.balance_cents::text
  from ledger.accounts as a
  where a.kind not in ('outside_world', 'event_escrow')
    and a.balance_cents + a.overdraft_cents < 0

  union all
  select 'overdraft is what the balance is below zero', 'account ' || a.id,
    greatest(0, -a.balance_cents)::text, a.overdraft_cents::text
  from ledger.accounts as a
  where a.kind = 'user_cash'
    and a.overdraft_cents <> greatest(0, -a.balance_cents)

  union all
  select 'cash is conserved', 'all accounts', '0', sum(a.balance_cents)::text
  from ledger.accounts as a
  having sum(a.balance_cents) <> 0

  union all
  select 'cash inside equals what came from outside', 'outside world',
    (-coalesce(sum(a.balance_cents) filter (where a.kind = 'outside_world'), 0))::text,
    (sum(a.external_cents) - (select p.paid_cents from payouts as p))::text
  from ledger.accounts as a
  having sum(a.external_cents) - (select p.paid_cents from payouts as p)
    <> -coalesce(sum(a.balance_cents) filter (where a.kind = 'outside_world'), 0)

  union all
  select 'external cash equals the sum of the cash movements', 'user ' || t.user_id,
    coalesce(m.net_cents, 0)::text, t.external_cents::text
  from trading.traders as t
  left join (
    select
      c.user_id,
      sum(
        case when c.kind in ('withdrawal', 'reversal') then -c.amount_cents else c.amount_cents end
      ) as net_cents
    from ledger.cash_movements as c
    group by c.user_id
  ) as m on m.user_id = t.user_id
  where t.external_cents <> coalesce(m.net_cents, 0)

  union all
  select 'user has a row of cash and checks', 'user ' || coalesce(u.id, t.user_id),
    coalesce(u.public_id::text, 'a user'), coalesce(t.public_id::text, 'none')
  from identity.users as u
  full join trading.traders as t on t.user_id = u.id
  where u.public_id is distinct from t.public_id
$$;

comment on function ledger.verify_accounts() is
  'The part of ledger.verify() about accounts: each is the sum of its lines, cash is conserved, '
  'and each user has one. One row for each broken invariant.';
