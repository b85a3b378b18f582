create or replace function trading.ids_of_event(payload json)
returns int
language sql immutable parallel safe
return case json_typeof(payload) when 'array' then json_array_length(payload) else 1 end;

comment on function trading.ids_of_event(json) is
  'How many ids an event takes: of several markets (market_changed) one for each, else one.';
