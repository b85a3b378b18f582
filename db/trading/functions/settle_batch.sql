create or replace function trading.settle_batch(
  context trading.market_context, batch trading.matched_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if context.live_delay_ms is not null then
    perform trading.settle_scheduled(context, batch.result);
  elsif (batch.result).changes > 0 then
    perform trading.settle_orders(context, batch.money, batch.result);
    perform trading.announce_to_makers(context, batch.result);
  end if;
end
$$;

comment on function trading.settle_batch(trading.market_context, trading.matched_batch) is
  'Writes what a batch came to and announces it; nothing, if nothing changed.';
