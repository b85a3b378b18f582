create or replace function identity.check_key_counts(user_id bigint)
returns void
language plpgsql stable
as $$
declare
  c_most constant int := 50;
  c_most_a_day constant int := 100;
begin
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = check_key_counts.user_id
      and identity.is_key_in_force(k)
      and not exists (
        select
        from identity.api_keys as n
        where n.replaces = k.id
      )
  ) > c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An account has at most %s keys: revoke one first', c_most)
    );
  end if;
  if (
    select count(*)
    from identity.api_keys as k
    where k.user_id = check_key_counts.user_id
      and k.created_at > core.now() - interval '24 hours'
  ) > c_most_a_day then
    perform core.raise_error(
      'INVALID_STATE', format('An account makes at most %s keys in 24 hours', c_most_a_day)
    );
  end if;
end
$$;

comment on function identity.check_key_counts(bigint) is
  'Ends a transaction that made an API key for a user with too many: 50 are in force, without '
  'those that were rotated, and 100 are made in 24 hours. The caller has locked the user''s row. '
  'Errors: INVALID_STATE.';
