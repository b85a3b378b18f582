create or replace function jobs.value_accounts(most int default 10000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- By then all that was accepted before midnight has its ids.
  c_settled_after constant interval := '10 minutes';
  -- Orders that ended 30 days ago may be in the archive: also those of ten minutes from now.
  c_most_days constant int := 30;
  v_at constant timestamptz := core.now();
  v_today constant date := ((v_at - c_settled_after) at time zone 'UTC')::date;
  v_first constant date := ((v_at + c_settled_after) at time zone 'UTC')::date - c_most_days;
  v_day trading.valued_days;
  v_last_user_id bigint;
  v_count int;
begin
  perform core.check_session();
  lock table trading.valued_days in share row exclusive mode;
  select d.* into v_day from trading.valued_days as d order by d.day desc limit 1;
  if v_day.day is null or v_day.finished_at is not null then
    v_day.day := greatest(v_day.day + 1, v_first);
    if v_day.day >= v_today or not ledger.is_settled() then
      return 0;
    end if;
    insert into trading.valued_days (day, market_ids, yes_bids, no_bids)
    select
      v_day.day, coalesce(array_agg(b.market_id), '{}'), coalesce(array_agg(b.yes_bid), '{}'),
      coalesce(array_agg(b.no_bid), '{}')
    from trading.closing_bids((v_day.day + 1)::timestamp at time zone 'UTC') as b;
    return 1;
  end if;

  select count(*), max(u.user_id) into v_count, v_last_user_id
  from (
    select t.user_id
    from trading.traders as t
    where t.user_id > v_day.last_user_id
    order by t.user_id
    limit value_accounts.most
  ) as u;
  insert into trading.exit_values (user_id, day, exit_cents)
  select v.user_id, v_day.day, v.exit_cents
  from trading.exit_values_at(
    (v_day.day + 1)::timestamp at time zone 'UTC', v_day.market_ids, v_day.yes_bids,
    v_day.no_bids, v_day.last_user_id, v_last_user_id
  ) as v;
  update trading.valued_days as d set
    last_user_id = coalesce(v_last_user_id, d.last_user_id),
    finished_at = case when v_count < value_accounts.most then v_at end
  where d.day = v_day.day;
  return v_count + 1;
end
$$;

comment on function jobs.value_accounts(int) is
  'Writes what the shares of all users were worth at the end of a UTC day that has none yet, from '
  'ten minutes after it: first the best bids of that moment, then the values of at most so many '
  'users in each call. Days follow one another; those that ended more than 30 days ago are left '
  'out. Returns 0 when nothing is left, or while a transaction that moves cash or shares stays '
  'open. Cost: see trading.closing_bids and trading.exit_values_at. Errors: UNFIT_SESSION. Locks: '
  'trading.valued_days in mode share row exclusive; it locks nothing that trading waits for.';
