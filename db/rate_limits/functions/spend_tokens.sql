create or replace function rate_limits.spend_tokens(user_ids uuid[], counts int[])
returns rate_limits.payment[]
language plpgsql volatile
as $$
declare
  c_token constant bigint := 60000000;
  v_users uuid[] := spend_tokens.user_ids; -- with a bucket that is looked for
  v_bucket record;
  v_full bigint; -- all of its tokens
  v_at timestamptz;
  v_spent bigint; -- before the requests of its user, and
  v_spent_after bigint;
  v_place int;
  v_left bigint;
  v_full_at timestamptz;
  v_changed rate_limits.allowances[]; -- the buckets that changed
  v_payments rate_limits.payment[] := array_fill(
    null::rate_limits.payment, array[cardinality(spend_tokens.user_ids)]
  );
begin
  foreach v_place in array array_positions(spend_tokens.user_ids, null) loop
    v_payments[v_place] := (true, null, null, null, null)::rate_limits.payment;
  end loop;
  for v_look in 1 .. 2 loop
    for v_bucket in
      select
        a.user_id, a.spent, a.at, a.removable_at,
        coalesce(
          p.requests_per_minute, (rate_limits.standard_policy()).requests_per_minute
        ) as rate,
        coalesce(p.burst_capacity, (rate_limits.standard_policy()).burst_capacity) as burst
      from rate_limits.allowances as a
      left join lateral (
        select x.requests_per_minute, x.burst_capacity
        from identity.users as u
        join rate_limits.rate_policies as x on x.user_id = u.id
        where u.public_id = a.user_id
          and (x.expires_at is null or x.expires_at > core.now())
      ) as p on true
      where a.user_id = any (v_users)
      order by a.user_id
      for no key update of a skip locked
    loop
      v_full := v_bucket.burst * c_token;
      v_at := core.now();
      -- Spent tokens have come back since, at the rate of the policy in force now. Under a policy
      -- with less capacity no more can be missing than all of it. The bound of the time is for the
      -- product, which must stay within a bigint, and 0 for a clock that was set back.
      v_spent := least(v_bucket.spent, v_full);
      v_spent := greatest(0, v_spent - v_bucket.rate * greatest(0, least(
        (extract(epoch from v_at - v_bucket.at) * 1000000)::bigint, v_spent / v_bucket.rate + 1
      )));
      v_spent_after := v_spent;
      foreach v_place in array array_positions(spend_tokens.user_ids, v_bucket.user_id) loop
        v_left := v_full - v_spent_after - spend_tokens.counts[v_place] * c_token;
        if v_left >= 0 then
          v_spent_after := v_full - v_left;
        end if;
        v_payments[v_place] := (
          v_left >= 0,
          case when v_left < 0 and spend_tokens.counts[v_place] <= v_bucket.burst
            then ceil(-v_left / (v_bucket.rate * 1000000.0))::int end,
          v_bucket.rate,
          v_bucket.burst,
          (v_full - v_spent_after) / c_token
        )::rate_limits.payment;
      end loop;
      -- A time in the future becomes the present one: until then nothing would come back.
      if v_spent_after > v_spent or v_bucket.at > v_at then
        v_full_at := v_at + (v_spent_after / v_bucket.rate + 1) * interval '1 microsecond';
        v_changed := v_changed || (
          v_bucket.user_id, v_spent_after, v_at,
          case when v_bucket.removable_at >= v_full_at then v_bucket.removable_at
            else v_full_at + interval '10 minutes' end
        )::rate_limits.allowances;
      end if;
    end loop;
    exit when v_look = 2 or array_position(v_payments, null) is null;
    v_users := array(
      select distinct u.user_id
      from unnest(spend_tokens.user_ids, v_payments) as u (
        user_id, allowed, retry_after_seconds, requests_per_minute, burst_capacity, remaining
      )
      where u.allowed is null
    );
    insert into rate_limits.allowances (user_id, at, removable_at)
    select u.user_id, timestamptz 'epoch', timestamptz '-infinity'
    from unnest(v_users) as u (user_id)
    order by u.user_id
    on conflict on constraint allowances_pkey do nothing;
  end loop;
  if v_changed is not null then
    update rate_limits.allowances as a
    set spent = p.spent, at = p.at, removable_at = p.removable_at
    from unnest(v_changed) as p
    where a.user_id = p.user_id;
  end if;
  return v_payments;
end
$$;

comment on function rate_limits.spend_tokens(uuid[], int[]) is
  'Takes tokens from the token buckets of these users for trading requests, in their order: each '
  'gets all its tokens (counts) or none. A user may occur several times; null stands for a '
  'request that pays nothing. The payment is null if another transaction has locked the '
  'bucket. It waits only for one that another transaction is making. Locks: the '
  'buckets, by ascending user.';
