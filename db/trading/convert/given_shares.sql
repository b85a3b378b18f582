create or replace function trading.given_shares(
  user_id bigint, market_ids bigint[], side trading.side, quantity int
)
returns table (market_id bigint, cost_out_cents bigint, fee_out_cents bigint)
language sql stable
begin atomic
  select
    p.market_id,
    core.half_up(p.cost_cents * given_shares.quantity, p.quantity),
    core.half_up(p.fee_cents * given_shares.quantity, p.quantity)
  from trading.positions as p
  where p.user_id = given_shares.user_id
    and p.market_id = any (given_shares.market_ids)
    and p.side = given_shares.side
    and p.quantity >= given_shares.quantity;
end;

comment on function trading.given_shares(bigint, bigint[], trading.side, int) is
  'What so many shares of a side take out of the positions of a user when they are given: cost and '
  'buy fees pro rata, rounded half up. Of the markets in which the user has as many.';
