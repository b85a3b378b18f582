create or replace function trading.rejection_message(code text, request trading.order_request)
returns text
language sql immutable parallel safe
return case when code = 'INVALID_REQUEST'
  then coalesce((request).problem, 'expiresAt: must be in the future')
end;

comment on function trading.rejection_message(text, trading.order_request) is
  'What a refusal says beyond its code; null when the code''s own message says it all.';
