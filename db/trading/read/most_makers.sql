create or replace function trading.most_makers(delays_others boolean)
returns int
language sql immutable parallel safe
return case when most_makers.delays_others then 250 else 500 end;

comment on function trading.most_makers(boolean) is
  'How many makers a bounded call may meet, at some 50 us each to match and write: fewer if other '
  'markets wait for it.';
