-- Arguments are compared as texts: a row of the audit log that says nothing sensible any more must
-- give a row, and not end the proof.
create or replace function ledger.verify_calls()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  calls as materialized (
    select
      a.id, a.at, a.action, a.arguments ->> 'user_id' as user_id,
      a.arguments ->> 'amount_cents' as amount_cents, a.arguments ->> 'reference' as reference,
      a.arguments ->> 'reason' as reason
    from admin.audit_log as a
    where a.action in (
      'deposit', 'withdraw', 'adjust_balance', 'reverse_deposit', 'pay_out_fees'
    )
    union all
    select
      a.id, a.at, a.action, b.entry ->> 'user_id', b.entry ->> 'amount_cents',
      a.arguments ->> 'name', null
    from admin.audit_log as a
    left join lateral jsonb_array_elements(
      case jsonb_typeof(a.arguments -> 'users') when 'array' then a.arguments -> 'users' end
    ) as b (entry) on true
    where a.action = 'give_bonus'
  ),
  movements as materialized (
    select
      c.journal_id, c.user_id, t.public_id::text as public_id, k.action,
      c.amount_cents::text as amount_cents, c.reference, c.reason
    from ledger.cash_movements as c
    join trading.traders as t on t.user_id = c.user_id
    join (
      values
        ('deposit', 'deposit'), ('withdraw', 'withdrawal'), ('give_bonus', 'bonus'),
        ('adjust_balance', 'adjustment'), ('reverse_deposit', 'reversal')
    ) as k (action, kind) on k.kind = c.kind::text
    union all
    select p.journal_id, null, null, 'pay_out_fees', p.amount_cents::text, p.reference, null
    from ledger.fee_payouts as p
  ),
  called as (
    select c.id, coalesce(c.reason, '') as reason,
      concat_ws(' ', c.action, c.amount_cents, 'of user ' || c.user_id, 'as', c.reference) as terms
    from calls as c
  ),
  moved as (
    select m.journal_id, coalesce(m.reason, '') as reason,
      concat_ws(' ', m.action, m.amount_cents, 'of user ' || m.public_id, 'as', m.reference)
        as terms
    from movements as m
  ),
  -- The play money of a sign-up, which no operator calls for: the first movement of a user whom no
  -- operator made, at the time of the sign-up.
  play_money as (
    select m.journal_id
    from movements as m
    join identity.users as u on u.id = m.user_id
    join ledger.posted_entries as e
      on e.journal_id = m.journal_id and e.account_id = ledger.user_account_id(m.user_id)
    join ledger.posted_journals as j on j.id = m.journal_id
    where m.action = 'give_bonus'
      and m.reference = 'play money'
      and e.account_version = 1
      and core.is_within_an_hour(j.created_at, u.created_at)
      and not exists (
        select
        from admin.audit_log as a
        where a.action = 'create_user'
          and a.arguments ->> 'user_id' = m.public_id
      )
  ),
  -- The resolutions of a market in their order, and the calls for them.
  resolutions as (
    select
      m.public_id::text as market_id, r.created_at as at,
      row_number() over (partition by r.market_id order by r.id) as place,
      concat_ws(
        ' ', case when r.corrects_resolution_id is null then 'resolve_market'
        else 'correct_resolution' end,
        r.outcome, 'at', r.yes_payout_cents, r.reason, 'evidence: ' || r.evidence
      ) as terms
    from trading.resolutions as r
    join catalog.markets as m on m.id = r.market_id
  ),
  resolution_calls as (
    select
      a.arguments ->> 'market_id' as market_id, a.at,
      row_number() over (partition by a.arguments ->> 'market_id' order by a.id) as place,
      concat_ws(
        ' ', a.action, a.arguments ->> 'outcome', 'at',
        case a.arguments ->> 'outcome' when 'yes' then '100' when 'no' then '0'
        else a.arguments ->> 'yes_payout_cents' end,
        a.arguments ->> 'reason', 'evidence: ' || (a.arguments ->> 'evidence')
      ) as terms
    from admin.audit_log as a
    where a.action in ('resolve_market', 'correct_resolution')
  ),
  voids as (
    select
      coalesce('void_trade ' || t.public_id, 'void_market ' || m.public_id) as object,
      v.created_at as at, v.reason
    from trading.voids as v
    join catalog.markets as m on m.id = v.market_id
    left join trading.trades as t on t.id = v.trade_id
  ),
  void_calls as (
    select
      concat_ws(' ', a.action, a.arguments ->> 'trade_id', a.arguments ->> 'market_id') as object,
      a.at, a.arguments ->> 'reason' as reason
    from admin.audit_log as a
    where a.action in ('void_trade', 'void_market')
  ),
  -- All but the one of the first migration.
  schedules as (
    select
      s.id::text as id, s.created_at as at, s.effective_from,
      concat_ws(' ', s.taker_rate_bps, 'bps', c.slug, m.public_id) as terms
    from trading.fee_schedules as s
    left join catalog.categories as c on c.id = s.category_id
    left join catalog.markets as m on m.id = s.market_id
    where s.id > (select min(x.id) from trading.fee_schedules as x)
  ),
  schedule_calls as (
    select
      a.arguments ->> 'schedule_id' as id, a.at,
      core.time_of(a.arguments ->> 'effective_from') as effective_from,
      concat_ws(
        ' ', a.arguments ->> 'taker_rate_bps', 'bps', a.arguments ->> 'category',
        a.arguments ->> 'market_id'
      ) as terms
    from admin.audit_log as a
    where a.action = 'set_fee_schedule'
  )
  select 'movement of cash has its call', 'journal ' || m.journal_id,
    concat_ws(' ', m.terms, m.reason), 'no call'
  from moved as m
  where not exists (select from called as c where c.terms = m.terms and c.reason = m.reason)
    and not exists (select from play_money as p where p.journal_id = m.journal_id)

  -- A reference that is given again may come with another reason, which is not kept.
  union all
  select 'call has moved the cash that it says', 'call ' || c.id, c.terms, 'none'
  from called as c
  where not exists (select from moved as m where m.terms = c.terms)

  -- The audit row is of the same transaction, so a clock that is set between transactions changes
  -- nothing here. A reference that is given again has a row for each call.
  union all
  select 'cash movement has the time of its call', 'journal ' || t.journal_id,
    'within an hour of ' || t.at, t.created_at::text
  from (
    select m.journal_id, j.created_at, min(c.at) as at,
      bool_or(core.is_within_an_hour(j.created_at, c.at)) as is_timed
    from movements as m
    join ledger.posted_journals as j on j.id = m.journal_id
    join calls as c
      on c.action = m.action
      and coalesce(c.user_id, '') = coalesce(m.public_id, '')
      and c.reference = m.reference
    group by m.journal_id, j.created_at
  ) as t
  where not t.is_timed

  union all
  select 'resolution is what was called for',
    concat_ws(' ', 'resolution', coalesce(r.place, c.place), 'of market',
      coalesce(r.market_id, c.market_id)),
    coalesce(c.terms || ', ' || c.at, 'none'), coalesce(r.terms || ', ' || r.at, 'none')
  from resolutions as r
  full join resolution_calls as c on c.market_id = r.market_id and c.place = r.place
  where r.terms is distinct from c.terms
    or not core.is_within_an_hour(r.at, c.at)

  union all
  select 'void is what was called for', coalesce(v.object, c.object),
    coalesce(c.reason || ', ' || c.at, 'none'), coalesce(v.reason || ', ' || v.at, 'none')
  from voids as v
  full join void_calls as c on c.object = v.object
  where v.reason is distinct from c.reason
    or not core.is_within_an_hour(v.at, c.at)

  union all
  select 'fee schedule is what was called for', 'fee schedule ' || coalesce(s.id, c.id),
    coalesce(c.terms || ', ' || c.at || coalesce(' from ' || c.effective_from, ''), 'none'),
    coalesce(s.terms || ', ' || s.at || ' from ' || s.effective_from, 'none')
  from schedules as s
  full join schedule_calls as c on c.id = s.id
  where s.terms is distinct from c.terms
    or not core.is_within_an_hour(s.at, c.at)
    or s.effective_from <> c.effective_from
    or c.effective_from is null
      and not core.is_within_an_hour(s.effective_from, c.at)

  union all
  select 'fee schedule was withdrawn as was called for', 'fee schedule ' || coalesce(x.id, c.id),
    coalesce(c.at::text, 'not'), coalesce(x.at::text, 'not')
  from (
    select f.fee_schedule_id::text as id, f.created_at as at from trading.fee_cancellations as f
  ) as x
  full join (
    select a.arguments ->> 'schedule_id' as id, a.at
    from admin.audit_log as a
    where a.action = 'cancel_fee_schedule'
  ) as c on c.id = x.id
  where core.is_within_an_hour(x.at, c.at) is not true
$$;

comment on function ledger.verify_calls() is
  'The part of ledger.verify() about operators'' calls for money: each movement of cash, '
  'resolution, void and fee schedule has its row in admin.audit_log, and each such row its '
  'effect. One row for each broken invariant.';
