create or replace function ledger.verify_settings()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  calls as materialized (
    select distinct on (c.object)
      c.object,
      case c.action
        when 'set_sign_up' then concat_ws(
          ' ', c.arguments ->> 'policy', c.arguments ->> 'play_money_cents'
        )
        when 'set_dispute_window' then c.arguments ->> 'hours'
        when 'set_minimum_age' then c.arguments ->> 'years'
        when 'set_trading_pause' then concat_ws(
          ' ', c.arguments ->> 'paused', c.arguments ->> 'reason'
        )
        when 'set_rate_limit' then concat_ws(
          ' ', c.arguments ->> 'max_requests', 'in', c.arguments ->> 'window_seconds'
        )
        when 'set_stream_cap' then c.arguments ->> 'max_streams'
        when 'set_cash_cap' then concat_ws(
          ' ', coalesce(c.arguments ->> 'per_call_cents', 'none'), 'and',
          coalesce(c.arguments ->> 'per_day_cents', 'none')
        )
        when 'set_rate_policy' then case c.arguments ->> 'tier' when 'standard' then 'standard'
        else concat_ws(
          ' ', c.arguments ->> 'tier', c.arguments ->> 'requests_per_minute',
          c.arguments ->> 'burst_capacity',
          extract(epoch from core.time_of(c.arguments ->> 'expires_at'))
        ) end
      end as setting
    from (
      select a.*,
        case a.action
          when 'set_sign_up' then 'sign-up'
          when 'set_trading_pause' then 'trading pause'
          when 'set_dispute_window' then 'dispute window'
          when 'set_minimum_age' then 'minimum age'
          when 'set_rate_limit' then 'rate limit ' || (a.arguments ->> 'bucket')
          when 'set_stream_cap' then 'stream cap of ' || (a.arguments ->> 'holder')
          when 'set_cash_cap' then 'cash cap of a ' || (a.arguments ->> 'kind')
          when 'set_rate_policy' then 'rate policy of user ' || (a.arguments ->> 'user_id')
        end as object
      from admin.audit_log as a
    ) as c
    where c.object is not null
    -- Each of these calls has locked its row before it was noted.
    order by c.object, c.id desc
  ),
  -- With what holds before the first call; null: not known.
  settings as (
    select 'sign-up' as object, concat_ws(' ', s.sign_up_policy, s.play_money_cents) as setting,
      'closed 0' as first_setting
    from identity.settings as s
    union all
    select
      'trading pause', concat_ws(' ', s.trading_paused::text, s.trading_pause_reason), 'false'
    from core.settings as s
    union all
    select
      'dispute window', s.dispute_window_hours::text, '72'
    from core.settings as s
    union all
    select
      'minimum age', s.minimum_age::text, '0'
    from core.settings as s
    union all
    select 'rate limit ' || b.bucket, concat_ws(' ', b.max_requests, 'in', b.window_seconds), null
    from rate_limits.buckets as b
    union all
    select 'stream cap of ' || c.holder, c.max_streams::text, null
    from rate_limits.stream_caps as c
    union all
    select 'cash cap of a ' || c.kind,
      concat_ws(
        ' ', coalesce(c.per_call_cents::text, 'none'), 'and',
        coalesce(c.per_day_cents::text, 'none')
      ),
      'none and none'
    from admin.caps as c
    union all
    select 'rate policy of user ' || u.public_id,
      case when p.user_id is null then 'standard' else concat_ws(
        ' ', p.tier, p.requests_per_minute, p.burst_capacity, extract(epoch from p.expires_at)
      ) end,
      'standard'
    from identity.users as u
    left join rate_limits.rate_policies as p on p.user_id = u.id
  )
  select 'setting is that of the last call', coalesce(s.object, c.object),
    coalesce(c.setting, s.first_setting), coalesce(s.setting, 'none')
  from settings as s
  full join calls as c on c.object = s.object
  where s.setting is distinct from coalesce(c.setting, s.first_setting, s.setting)
$$;

comment on function ledger.verify_settings() is
  'The part of ledger.verify() about the settings that operators change: each is what the last '
  'call in admin.audit_log set. One row for each broken invariant.';
