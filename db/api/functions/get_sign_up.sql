create or replace function api.get_sign_up()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'policy', s.sign_up_policy,
    'playMoneyCents', s.play_money_cents,
    'minimumAge', nullif(x.minimum_age, 0)
  )
  from identity.settings as s
  cross join core.settings as x
$$;

comment on function api.get_sign_up() is 'The body of GET /api/account/sign-up.';
