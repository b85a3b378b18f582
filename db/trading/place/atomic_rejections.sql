create or replace function trading.atomic_rejections(batch trading.batch)
returns trading.order_answer[]
language plpgsql immutable
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  m_delay_ms constant int[] := (batch.markets).live_delay_ms;
  v_live boolean[];
begin
  v_live := array(
    select m_delay_ms[r.market_place[i]] is not null
      and (o.code[i] is not null or o.status[i] is not null) -- no replay
    from generate_subscripts(o.code, 1) as i
    order by i
  );
  if array_remove(o.code, null) = '{}' and not true = any (v_live) then
    return null;
  end if;
  return array(
    select (
      -- What waits for another request does not say why the call is rejected.
      case
        when v_live[i] then 'INVALID_REQUEST'
        when not true = any (v_live) then nullif(o.code[i], 'CONFLICT_RETRY')
      end,
      case
        when v_live[i] then 'atomic: not for orders on live markets'
        when not true = any (v_live) then trading.rejection_message(o.code[i], r.problem[i])
      end,
      false, null, null
    )::trading.order_answer
    from generate_subscripts(o.code, 1) as i
    order by i
  );
end
$$;

comment on function trading.atomic_rejections(trading.batch) is
  'The answers to an atomic call if it must be rejected as a whole; null if all can be placed.';
