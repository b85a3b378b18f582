create or replace function api.get_reality_check(user_id uuid, session_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
begin
  return (
    select json_build_object(
      'everyMinutes', u.reality_check_minutes,
      'startedAt', core.iso8601(s.visit_started_at),
      'lastedMs', floor(
        extract(epoch from greatest(n.at - s.visit_started_at, '0')) * 1000
      )::bigint,
      'dueInMs', ceil(
        extract(epoch from case when u.reality_check_minutes is not null then greatest(
          greatest(s.visit_started_at, s.reminded_at)
            + make_interval(mins => u.reality_check_minutes) - n.at,
          '0'
        ) end) * 1000
      )::bigint,
      'realisedCents', (
        select coalesce(sum(r.realised_cents), 0)
        from trading.results_between(u.id, s.visit_started_at, 'infinity') as r
      ),
      'spentCents', (
        select coalesce(- sum(x.cents), 0)
        from (
          select t.taker_cents as cents
          from trading.trades as t
          where (t.taker_user_id, t.id) > (u.id, b.trade_id)
            and t.taker_user_id <= u.id
            and t.created_at >= s.visit_started_at
          union all
          select t.maker_cents
          from trading.trades as t
          where (t.maker_user_id, t.id) > (u.id, b.trade_id)
            and t.maker_user_id <= u.id
            and t.created_at >= s.visit_started_at
          union all
          select e.amount_cents
          from ledger.posted_entries as e
          join ledger.posted_journals as j on j.id = e.journal_id
          where e.account_id = a.account_id
            and e.account_version > coalesce(
              (
                select p.account_version
                from ledger.posted_entries as p
                where p.account_id = a.account_id
                  and (p.account_id, p.journal_id) <= (a.account_id, b.trade_id)
                order by p.account_version desc
                limit 1
              ),
              0
            )
            and j.created_at >= s.visit_started_at
            and j.kind not in ('deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal')
        ) as x
      )
    )
    from core.now() as n (at)
    cross join identity.sessions as s
    join identity.users as u on u.id = s.user_id
    cross join lateral ledger.user_account_id(u.id) as a (account_id)
    -- A trade has an id of ledger.journal_ids, as journals have.
    cross join lateral ledger.trade_before(s.visit_started_at) as b (trade_id)
    where s.public_id = get_reality_check.session_id
      and u.public_id = get_reality_check.user_id
  );
end
$$;

comment on function api.get_reality_check(uuid, uuid) is
  'The body of GET /api/account/reality-check: how long the visit of this session has lasted, when '
  'the next reminder is due (0: now, null: never), and of the time since the visit began: what the '
  'user has realised (trading.results_between), and the net cash put into trading, in whatever '
  'session or by whatever key. Null when the session is gone. Cost: the user''s trades and entries '
  'since then, and what trading.results_between costs.';
