create or replace function trading.write_depth(
  market_id bigint, places int[], changes bigint[], counted boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old trading.market_state;
  v_depth bigint[];
  v_best_yes_price int;
  v_best_no_price int;
begin
  select s.* into strict v_old
  from trading.market_state as s
  where s.market_id = write_depth.market_id;
  v_depth := trading.changed_depth(v_old.depth, write_depth.places, write_depth.changes);
  v_best_yes_price := trading.best_in_depth(v_depth, 'yes', v_old.best_yes_price);
  v_best_no_price := trading.best_in_depth(v_depth, 'no', v_old.best_no_price);

  update trading.market_state as s set
    version = s.version + write_depth.counted::int,
    depth = v_depth,
    best_yes_price = v_best_yes_price,
    first_yes_position = case
      when v_best_yes_price = s.best_yes_price then s.first_yes_position else 0
    end,
    best_no_price = v_best_no_price,
    first_no_position = case
      when v_best_no_price = s.best_no_price then s.first_no_position else 0
    end
  where s.market_id = write_depth.market_id;

  if write_depth.counted then
    insert into trading.outbox (channel, payload)
    select 'market_changed', json_build_object(
      'marketId', m.public_id, 'version', v_old.version + 1
    )
    from catalog.markets as m
    where m.id = write_depth.market_id;
  end if;
end
$$;

comment on function trading.write_depth(bigint, int[], bigint[], boolean) is
  'Takes shares off the depth of a market''s book (changes below 0, see trading.changed_depth) and '
  'moves its best prices down to what is left. counted: raise the version of the market by one, '
  'with a market_changed event. The caller holds the market''s lock.';
