create or replace function trading.announce_market_status(
  market_id bigint, status catalog.market_status
)
returns void
language plpgsql volatile
as $$
declare
  v_payload jsonb;
  v_user_ids constant bigint[] := array(
    select h.user_id
    from trading.holdings as h
    where h.market_id = announce_market_status.market_id
      and (h.yes_quantity > 0 or h.no_quantity > 0)
    union
    select o.user_id
    from trading.orders as o
    where o.id = any (trading.active_orders_of_market(announce_market_status.market_id))
  );
begin
  select jsonb_build_object('marketId', m.public_id, 'status', announce_market_status.status)
  into strict v_payload
  from catalog.markets as m
  where m.id = announce_market_status.market_id;
  if cardinality(v_user_ids) > 0 then
    perform trading.announce_to_many('market_status', v_payload, v_user_ids);
  else
    -- Streams of the market show its status, too.
    insert into trading.outbox (channel, payload) values ('market_status', v_payload::json);
  end if;
end
$$;

comment on function trading.announce_market_status(bigint, catalog.market_status) is
  'Writes the new status of a market to the outbox, for the users who have open orders or shares '
  'there. The caller holds the market''s lock, and has not cancelled the orders yet.';
