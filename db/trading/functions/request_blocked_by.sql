create or replace function trading.request_blocked_by(
  traders trading.trader_arrays, trader int, order_id bigint
)
returns text
language sql immutable parallel safe
return case
  when (traders).missed_switch[trader] or order_id <= (traders).stopped_order_ids[trader] -- mutant: stopped_order_released
    then 'DEAD_MAN_FIRED'
  else (traders).blocked_by[trader]
end;

comment on function trading.request_blocked_by(trading.trader_arrays, int, bigint) is
  'Why a request may not trade, null if it may: its user may not (risk.blocked_by); the dead '
  'man''s switch expired while the request waited for its user''s lock, so that no firing would '
  'see its order; or it releases a scheduled order that the switch has stopped. trader is the '
  'place of the user; order_id is null unless an order is released.';
