-- The user is given as a range: an equality would let the planner walk the primary key, past the
-- trades of all others.
create or replace function trading.own_trade_ids(
  user_id bigint, from_id bigint, ascending boolean, most int
)
returns setof bigint
language plpgsql stable
as $$
begin
  if own_trade_ids.ascending then
    return query
    select y.id
    from (
      (
        select x.id
        from trading.trades as x
        where (x.taker_user_id, x.id) >= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.taker_user_id <= own_trade_ids.user_id
        order by x.taker_user_id, x.id
        limit own_trade_ids.most
      )
      union all
      (
        select x.id
        from trading.trades as x
        where (x.maker_user_id, x.id) >= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.maker_user_id <= own_trade_ids.user_id
        order by x.maker_user_id, x.id
        limit own_trade_ids.most
      )
    ) as y
    order by y.id
    limit own_trade_ids.most;
  else
    return query
    select y.id
    from (
      (
        select x.id
        from trading.trades as x
        where (x.taker_user_id, x.id) <= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.taker_user_id >= own_trade_ids.user_id
        order by x.taker_user_id desc, x.id desc
        limit own_trade_ids.most
      )
      union all
      (
        select x.id
        from trading.trades as x
        where (x.maker_user_id, x.id) <= (own_trade_ids.user_id, own_trade_ids.from_id)
          and x.maker_user_id >= own_trade_ids.user_id
        order by x.maker_user_id desc, x.id desc
        limit own_trade_ids.most
      )
    ) as y
    order by y.id desc
    limit own_trade_ids.most;
  end if;
end
$$;

comment on function trading.own_trade_ids(bigint, bigint, boolean, int) is
  'Ids of a user''s trades, at most so many: from an id on, or from it back.';
