create or replace function trading.cancel_active_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  expires boolean default false,
  announced boolean default true
)
returns int
language plpgsql
as $$
declare
  v_announced_ids bigint[];
  v_cancelled int;
begin
  select
    array_agg(e.order_id) filter (
      where cancel_active_orders.announced
        or e.has_expired
    ),
    count(*) filter (where not e.has_expired)
  into v_announced_ids, v_cancelled
  from trading.end_active_orders(
    cancel_active_orders.order_ids, cancel_active_orders.reason, cancel_active_orders.at,
    expires => cancel_active_orders.expires,
    counted => true
  ) as e;
  if v_announced_ids is not null then
    perform trading.announce_cancelled(v_announced_ids);
  end if;
  return v_cancelled;
end
$$;

comment on function trading.cancel_active_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean
) is
  'Cancels open orders of any markets, resting and scheduled ones, for one reason; returns how '
  'many were still there. expires: those past their expiry expire instead, and are not counted. '
  'announced: with order_cancelled events for the owners, who did not ask for it; an order that '
  'expires instead always has one. One change of each market, however many orders leave its book. '
  'The caller holds the locks of the markets.';
