create or replace function trading.batch_answers(batch trading.batch)
returns trading.order_answer[]
language plpgsql stable
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  f constant trading.fills := batch.fills;
  c constant trading.cancelled_makers := batch.cancelled;
  k constant trading.makers := batch.makers;
  m_public_id constant uuid[] := (batch.markets).public_id;
  m_version constant bigint[] := (batch.markets).version;
  t_public_id constant uuid[] := (batch.traders).public_ids;
  v_at constant text := core.iso8601(batch.at);
  v_objects text[];
  v_first int := 1;
  v_fills text[];
  v_cancelled text[];
  v_body text;
  v_answers trading.order_answer[];
  i int;
  q int;
begin
  for p in 1 .. coalesce(cardinality(f.request_place), 0) loop
    i := f.request_place[p];
    q := f.maker_place[p];
    v_objects[p] := trading.fill_object(
      f.public_id[p], m_public_id[r.market_place[i]],
      case when r.is_yes[i] then 'yes' else 'no' end::trading.side, o.public_id[i],
      k.public_id[q], t_public_id[batch.trader_place[i]], t_public_id[k.trader_place[q]],
      case when r.is_yes[i] then 100 - k.book_price[q] else k.book_price[q] end, f.quantity[p], v_at
    );
    -- The fills of a request are one behind the other: put together once, they are copied once.
    if f.request_place[p + 1] is distinct from i then
      v_fills[i] := array_to_string(v_objects[v_first:p], ',');
      v_first := p + 1;
    end if;
  end loop;
  if c.request_place is not null then
    for i, v_body in
      select c.request_place[p], string_agg(
        (
          select trading.order_object(
            e.public_id, t_public_id[k.trader_place[c.maker_place[p]]],
            m_public_id[r.market_place[c.request_place[p]]], e.side, e.price, e.quantity,
            e.filled_quantity, e.status, e.order_type, e.time_in_force, e.cancel_reason,
            e.expires_at, core.iso8601(e.created_at), null
          )
          from trading.ended_orders as e
          where e.id = k.order_id[c.maker_place[p]]
        ),
        ',' order by p
      )
      from generate_subscripts(c.request_place, 1) as p
      group by 1
    loop
      v_cancelled[i] := v_body;
    end loop;
  end if;

  for i in 1 .. cardinality(o.code) loop
    if o.code[i] is null and o.status[i] is null then
      v_answers[i] := trading.replay_answer(
        coalesce(batch.replay[i], o.order_id[o.replay_of[i]]), o.left_quantity[i],
        o.cancel_reason[i], o.balance_cents[i], batch.at
      );
      continue;
    end if;
    v_body := null;
    if o.code[i] is null then
      v_body := trading.order_body(
        trading.order_object(
          o.public_id[i], t_public_id[batch.trader_place[i]], m_public_id[r.market_place[i]],
          r.side[i], r.price[i], o.quantity[i], o.quantity[i] - o.left_quantity[i], o.status[i],
          r.order_type[i], r.time_in_force[i], o.cancel_reason[i], r.expires_at[i], v_at,
          case when o.release_at[i] is not null
            then trading.schedule_members(o.release_at[i], r.budget_cents[i], batch.at) end
        ),
        v_fills[i], v_cancelled[i], o.balance_cents[i], o.fee_cents[i]
      );
    end if;
    v_answers[i] := (
      o.code[i],
      trading.rejection_message(o.code[i], r.problem[i]),
      false,
      v_body,
      m_version[r.market_place[i]] + batch.changes[r.market_place[i]]
    )::trading.order_answer;
  end loop;
  return v_answers;
end
$$;

comment on function trading.batch_answers(trading.batch) is
  'The answers to the orders of a call that is written, in their order: a rejection, or the '
  'body of the answer as JSON text.';
