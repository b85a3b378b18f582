create or replace function trading.leave_out(
  requests trading.requests, market_ids bigint[], kept_ids bigint[]
)
returns text[]
language sql immutable parallel safe
return array(
  select case
    when (requests).code[i] is not null then (requests).code[i]
    when array_position(kept_ids, market_ids[(requests).market_place[i]]) is null then 'AGAIN'
  end
  from generate_subscripts((requests).market_place, 1) as i
  order by i
);

comment on function trading.leave_out(trading.requests, bigint[], bigint[]) is
  'The codes of requests when those of other markets than kept_ids are left out: AGAIN.';
