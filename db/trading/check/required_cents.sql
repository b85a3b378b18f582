create or replace function trading.required_cents(
  spent_cents bigint,
  fee_cents bigint,
  left_quantity int,
  price int,
  next_price int,
  may_rest boolean,
  is_whole boolean,
  stop text,
  is_far_beyond boolean
)
returns bigint
language sql immutable parallel safe
return spent_cents + case
  when is_far_beyond then 0
  when stop = 'comes_again'
    then case when may_rest or is_whole then left_quantity * next_price else 0 end
  else fee_cents + case when may_rest then left_quantity * price else 0 end
end;

comment on function trading.required_cents(
  bigint, bigint, int, int, int, boolean, boolean, text, boolean
) is
  'What a buy must be covered with: what it has spent and its fee, and what is left of it if that '
  'rests. If it stopped to be placed again (trading.stop_at_bound): what it costs at least, since '
  'no price behind next_price is better; without the rest unless it may rest or is filled as a '
  'whole. is_far_beyond: it has met makers far beyond its cash.';
