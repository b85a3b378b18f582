create or replace function api.get_own_profile(user_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'id', u.public_id,
      'email', case when identity.is_confirmed(u) then u.email else c.email end,
      'emailConfirmed', identity.is_confirmed(u),
      'newEmail', case when identity.is_confirmed(u) then c.email end,
      'displayName', u.display_name,
      'handle', coalesce(c.handle, u.handle),
      'avatarUrl', u.avatar_url,
      'private', u.private,
      'leaderboardOptOut', u.leaderboard_opt_out,
      'hasPassword', p.user_id is not null,
      'balance', t.balance_cents,
      'createdAt', core.iso8601(u.created_at),
      'frozen', t.frozen_at is not null,
      'exclusion', case when t.excluded_until > n.at then json_build_object(
        'until', case when isfinite(t.excluded_until) then core.iso8601(t.excluded_until) end
      ) end,
      'ageToConfirm', case when not risk.has_confirmed_age(t.confirmed_age, x.minimum_age)
        then x.minimum_age end,
      'realityCheckMinutes', u.reality_check_minutes,
      'limits', trading.limits_object(t, n.at)
    )
    from core.now() as n (at)
    cross join core.settings as x
    cross join identity.users as u
    join trading.traders as t on t.user_id = u.id
    left join identity.passwords as p on p.user_id = u.id
    left join identity.email_claims as c on c.user_id = u.id
    where u.public_id = get_own_profile.user_id
  );
end
$$;

comment on function api.get_own_profile(uuid) is
  'The body of GET /api/account: what a user may see of their own account, with limits and '
  'self-exclusion. Cost: a row for each open order.';
