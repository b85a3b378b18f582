create or replace function trading.most_makers()
returns int
language sql immutable parallel safe
return 1000;

comment on function trading.most_makers() is
  'How many makers a bounded call may meet: some 50 ms of matching and writing.';
