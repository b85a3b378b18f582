create or replace function trading.leave_out(
  requests trading.requests, market_places int[], user_ids bigint[]
)
returns text[]
language sql immutable parallel safe
return array(
  select case
    when (requests).code[i] is not null then (requests).code[i]
    when (requests).market_place[i] = any (market_places)
      or (requests).user_id[i] = any (user_ids) then 'AGAIN'
  end
  from generate_subscripts((requests).market_place, 1) as i
  order by i
);

comment on function trading.leave_out(trading.requests, int[], bigint[]) is
  'The codes of requests, one for each: AGAIN for those in some markets (places in market_ids) '
  'or of some users, which are left out; for the others what it was.';
