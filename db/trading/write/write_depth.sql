create or replace function trading.write_depth(
  market_id bigint, places int[], changes bigint[], raises_version boolean
)
returns void
language plpgsql
as $$
declare
  v_version bigint;
begin
  update trading.market_state as s set
    version = s.version + write_depth.raises_version::int,
    (depth, best_yes_price, first_yes_position, best_no_price, first_no_position) = (
      select
        b.depth, b.best_yes_price, b.first_yes_position, b.best_no_price, b.first_no_position
      from trading.changed_book(s, write_depth.places, write_depth.changes) as b
    )
  where s.market_id = write_depth.market_id
  returning s.version into strict v_version;

  if write_depth.raises_version then
    insert into trading.outbox (channel, payload)
    select 'market_changed', trading.market_change_object(m.public_id, v_version)::json
    from catalog.markets as m
    where m.id = write_depth.market_id;
  end if;
end
$$;

comment on function trading.write_depth(bigint, int[], bigint[], boolean) is
  'Takes shares off the depth of a market''s book (changes below 0, see trading.changed_book) and '
  'moves its best prices down to what is left. raises_version: of the market, by one, '
  'with a market_changed event. The caller holds the market''s lock.';
