create or replace function trading.order_rejected(code text)
returns trading.order_result
language sql immutable parallel safe
return (code, null, null, null, null, null, null, null, null, null)::trading.order_result;

comment on function trading.order_rejected(text) is
  'The result of a request that is rejected with this code.';
