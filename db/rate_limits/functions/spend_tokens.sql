create or replace function rate_limits.spend_tokens(user_ids uuid[], counts int[])
returns rate_limits.payment[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_token constant bigint := 60000000;
  v_users uuid[]; -- once each, and of each of them, in this order:
  v_spent bigint[];
  v_since timestamptz[];
  v_rates int[];
  v_bursts int[];
  v_full_at timestamptz[]; -- when the bucket is full again, of those who are given one
  v_at timestamptz;
  v_user int;
  v_microseconds bigint;
  v_needed bigint;
  v_payment rate_limits.payment;
  v_payments rate_limits.payment[] := '{}';
begin
  if (cardinality(spend_tokens.counts) = cardinality(spend_tokens.user_ids)
    and 1 <= all (spend_tokens.counts)) is not true
  then
    perform core.raise_error('INVALID_REQUEST', 'counts must have a number of tokens for each');
  end if;
  for v_look in 1 .. 2 loop
    select
      coalesce(array_agg(a.user_id), '{}'), array_agg(a.spent), array_agg(a.at),
      array_agg(a.requests_per_minute), array_agg(a.burst_capacity)
    into v_users, v_spent, v_since, v_rates, v_bursts
    from (
      select
        b.user_id, b.spent, b.at,
        coalesce(
          p.requests_per_minute, (rate_limits.standard_policy()).requests_per_minute
        ) as requests_per_minute,
        coalesce(p.burst_capacity, (rate_limits.standard_policy()).burst_capacity)
          as burst_capacity
      from rate_limits.allowances as b
      left join lateral (
        select x.requests_per_minute, x.burst_capacity
        from identity.users as u
        join rate_limits.rate_policies as x on x.user_id = u.id
        where u.public_id = b.user_id
          and (x.expires_at is null or x.expires_at > core.now())
      ) as p on true
      where b.user_id = any (spend_tokens.user_ids)
      order by b.user_id
      for no key update of b skip locked
    ) as a;
    exit when v_look = 2 or v_users @> array_remove(spend_tokens.user_ids, null);
    insert into rate_limits.allowances (user_id, at, removable_at)
    select distinct u.user_id, timestamptz 'epoch', timestamptz '-infinity'
    from unnest(spend_tokens.user_ids) as u (user_id)
    where u.user_id is not null
    order by u.user_id
    on conflict on constraint allowances_pkey do nothing;
  end loop;

  -- Spent tokens have come back since, at the rate of the policy in force now.
  v_at := core.now();
  v_full_at := array_fill(null::timestamptz, array[cardinality(v_users)]);
  for i in 1 .. cardinality(v_users) loop
    -- Under a policy with less capacity no more can be missing than all of it.
    v_spent[i] := least(v_spent[i], v_bursts[i] * c_token);
    -- The first bound is for the product, which must stay within a bigint; the second for a clock
    -- that was set back.
    v_microseconds := greatest(
      least((extract(epoch from v_at - v_since[i]) * 1000000)::bigint, v_spent[i] / v_rates[i] + 1),
      0
    );
    v_spent[i] := greatest(v_spent[i] - v_rates[i] * v_microseconds, 0);
  end loop;

  for i in 1 .. cardinality(spend_tokens.user_ids) loop
    v_user := array_position(v_users, spend_tokens.user_ids[i]);
    v_payment := (
      case when spend_tokens.user_ids[i] is null then true end, null::int, v_rates[v_user],
      v_bursts[v_user], null::bigint
    );
    if v_user is not null then
      v_needed := spend_tokens.counts[i] * c_token;
      v_payment.allowed := v_spent[v_user] + v_needed <= v_bursts[v_user] * c_token;
      if v_payment.allowed then
        v_spent[v_user] := v_spent[v_user] + v_needed;
        v_full_at[v_user] := v_at
          + make_interval(secs => v_spent[v_user] / (v_rates[v_user] * 1000000.0));
      elsif spend_tokens.counts[i] <= v_bursts[v_user] then
        v_payment.retry_after_seconds := ceil(
          (v_spent[v_user] + v_needed - v_bursts[v_user] * c_token)
          / (v_rates[v_user] * 1000000.0)
        )::int;
      end if;
      v_payment.remaining := (v_bursts[v_user] * c_token - v_spent[v_user]) / c_token;
    end if;
    v_payments[i] := v_payment;
  end loop;

  update rate_limits.allowances as a set
    spent = n.spent,
    at = v_at,
    removable_at = case
      when a.removable_at between n.full_at and n.full_at + interval '10 minutes'
        then a.removable_at
      else n.full_at + interval '10 minutes'
    end
  from unnest(v_users, v_spent, v_full_at) as n (user_id, spent, full_at)
  where a.user_id = n.user_id and n.full_at is not null;
  return v_payments;
end
$$;

comment on function rate_limits.spend_tokens(uuid[], int[]) is
  'Takes tokens from the token buckets of these users for trading requests, in their order: each '
  'gets all its tokens (counts) or none. A user may occur several times; null stands for a '
  'request that pays nothing. It waits for no bucket that another transaction has locked, '
  'allowed is null then; only for one that another transaction is making. Errors: '
  'INVALID_REQUEST. Locks: the buckets, by ascending user.';
