create or replace function trading.match_batch(
  requests trading.requests,
  at timestamptz,
  locks text default 'wait',
  is_final boolean default false,
  most_makers int default null
)
returns trading.batch
language plpgsql volatile
as $$
declare
  v_batch trading.batch;
  v_factor int := 1;
begin
  v_batch.at := match_batch.at;
  v_batch.requests := match_batch.requests;
  v_batch.markets := trading.read_markets((match_batch.requests).market_ids, match_batch.at);
  if (match_batch.requests).order_id is not null then
    v_batch.markets.live_delay_ms := null; -- the orders have waited
  end if;
  loop
    v_batch := trading.read_batch(
      v_batch, v_factor,
      case when match_batch.locks = 'wait' and v_factor > 1 then 'fail' else match_batch.locks end,
      match_batch.most_makers
    );
    exit when v_batch.is_too_deep or v_batch.locked_user_ids is not null;
    v_batch := trading.match_orders(
      v_batch, is_preview => match_batch.locks = 'none', is_final => match_batch.is_final
    );
    exit when (v_batch.results).code is not null;
    -- Cancelled makers let the call reach deeper than it could have otherwise.
    v_factor := v_factor * 4;
  end loop;
  if (v_batch.fills).request_place is not null then
    v_batch := trading.account_for_fills(v_batch);
  end if;
  return v_batch;
end
$$;

comment on function trading.match_batch(
  trading.requests, timestamptz, text, boolean, int
) is
  'Reads all that the orders of a call can reach and matches them; nothing is written yet. '
  'locks: see trading.read_batch. is_final: a request that would not be finished '
  '(CONFLICT_RETRY) ends where it has come. It comes back without results if the orders could meet '
  'more than most_makers (is_too_deep; it then has at least as many as show that), or, with locks '
  '"skip", if other transactions have locked some of the users (locked_user_ids). The caller holds '
  'the markets'' locks.';
