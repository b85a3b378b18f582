create or replace function trading.verify_disputes()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'dispute is by a user who held shares', 'dispute ' || d.id,
    'a settlement of user ' || d.user_id, 'none'
  from trading.disputes as d
  where not exists (
    select
    from trading.settlements as s
    where s.resolution_id = d.resolution_id
      and s.user_id = d.user_id
  )

  union all
  select 'dispute was made while its resolution held', 'dispute ' || d.id,
    'from ' || r.created_at || coalesce(' until ' || n.created_at, ''), d.created_at::text
  from trading.disputes as d
  join trading.resolutions as r on r.id = d.resolution_id
  left join trading.resolutions as n on n.corrects_resolution_id = r.id
  where d.created_at < r.created_at
    or d.created_at > n.created_at

  -- An erasure answers, too. The words are not shown: these rows are kept.
  union all
  select 'dispute was answered as was called for', 'dispute ' || coalesce(d.id, c.id),
    coalesce(c.at::text, 'not'),
    coalesce(d.answered_at || case when d.answer <> c.answer then ' in other words' else '' end,
      'not')
  from (
    select x.public_id::text as id, x.answer, x.answered_at, u.erased_at
    from trading.disputes as x
    left join identity.users as u on u.id = x.user_id
    where x.answered_at is not null
  ) as d
  full join (
    select a.arguments ->> 'dispute_id' as id, a.at, p.arguments ->> 'answer' as answer
    from admin.audit_log as a
    left join admin.personal_arguments as p on p.audit_id = a.id
    where a.action = 'answer_dispute'
  ) as c on c.id = d.id
  where d.id is null
    or c.id is null and d.erased_at is null
    or not core.is_within_an_hour(d.answered_at, c.at)
    or d.answer <> c.answer
$$;

comment on function trading.verify_disputes() is
  'The part of ledger.verify() about disputes of resolutions: each is by a user who held shares, '
  'while the resolution held, and is answered as the last call in admin.audit_log says. One row '
  'for each broken invariant.';
