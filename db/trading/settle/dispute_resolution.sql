create or replace function trading.dispute_resolution(user_id bigint, market_id bigint, text text)
returns core.result
language plpgsql
as $$
declare
  v_at constant timestamptz := core.now();
  v_resolution_id constant bigint := (
    trading.resolution_in_force(dispute_resolution.market_id)
  ).id;
  v_code text;
  v_dispute trading.disputes;
begin
  v_code := case
    when core.is_blank(coalesce(dispute_resolution.text, ''))
      or length(dispute_resolution.text) > 2000 then 'INVALID_REQUEST'
    when not exists (
      select
      from identity.users as u
      where u.id = dispute_resolution.user_id
        and u.erased_at is null
    ) then 'UNAUTHORIZED'
    when dispute_resolution.market_id is null then 'NOT_FOUND'
    when (v_at < trading.disputable_until(dispute_resolution.market_id)) is not true
      then 'NOT_OPEN_TO_DISPUTE'
    when not exists (
      select
      from trading.settlements as s
      where s.resolution_id = v_resolution_id
        and s.user_id = dispute_resolution.user_id
    ) then 'NO_SHARES_HELD'
    when exists (
      select
      from trading.disputes as d
      where d.resolution_id = v_resolution_id
        and d.user_id = dispute_resolution.user_id
    ) then 'ALREADY_DISPUTED'
  end;
  if v_code is not null then
    return (
      v_code,
      case v_code
        when 'INVALID_REQUEST' then 'text: must have from 1 to 2000 characters, not all blank'
        when 'NOT_FOUND' then 'Market not found'
      end,
      false,
      null
    )::core.result;
  end if;
  insert into trading.disputes (resolution_id, user_id, text, created_at)
  values (v_resolution_id, dispute_resolution.user_id, dispute_resolution.text, v_at)
  returning * into strict v_dispute;
  return (
    null,
    null,
    false,
    json_build_object(
      'id', v_dispute.public_id,
      'createdAt', core.iso8601(v_dispute.created_at)
    )::text
  )::core.result;
end
$$;

comment on function trading.dispute_resolution(bigint, bigint, text) is
  'Keeps what a user says against the resolution of a market that holds: the body of POST '
  '/markets/:id/disputes, or a rejection. The body does not repeat the text, because replies are '
  'kept for a day, and an erasure does not reach them. The caller has locked the market, then the '
  'user.';
