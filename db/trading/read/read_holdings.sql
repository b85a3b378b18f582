create or replace function trading.read_holdings(batch trading.batch)
returns trading.batch
language plpgsql stable
as $$
declare
  r constant trading.requests := batch.requests;
  k trading.makers := batch.makers;
  m_id constant bigint[] := (batch.markets).id;
  t_user_id constant bigint[] := (batch.traders).user_ids;
  r_trader constant int[] := batch.trader_place;
  h trading.holdings_read;
  h_count int;
begin
  select
    array_agg(q.key), array_agg(q.market_place), array_agg(q.user_id),
    array_agg(coalesce(x.yes_traded or x.no_traded, false)),
    array_agg(x.yes_public_id) || array_agg(x.no_public_id),
    array_agg(coalesce(x.yes_quantity, 0)::bigint) || array_agg(coalesce(x.no_quantity, 0)::bigint),
    array_agg(coalesce(x.yes_cost_cents, 0)::bigint)
    || array_agg(coalesce(x.no_cost_cents, 0)::bigint),
    array_agg(coalesce(x.yes_fee_cents, 0)::bigint)
    || array_agg(coalesce(x.no_fee_cents, 0)::bigint),
    array_agg(coalesce(x.yes_realised_cents, 0)) || array_agg(coalesce(x.no_realised_cents, 0))
  into
    h.key, h.market_place, h.user_id, h.has_traded, h.public_id, h.quantity, h.cost_cents,
    h.fee_cents, h.realised_cents
  from (
    select distinct
      trading.holding_key(p.market_place, p.trader_place) as key, p.market_place,
      t_user_id[p.trader_place] as user_id
    from (
      select r.market_place[i] as market_place, r_trader[i] as trader_place
      from generate_subscripts(r_trader, 1) as i
      where r_trader[i] is not null
        and m_id[r.market_place[i]] is not null
      union all
      select (k.book_place[i] + 1) / 2, k.trader_place[i]
      from generate_subscripts(k.order_id, 1) as i
    ) as p
    order by 1
  ) as q
  -- The limit keeps it a look-up by the whole key, whatever the planner thinks of the table.
  left join lateral (
    select y.*
    from trading.holdings as y
    where y.market_id = m_id[q.market_place] and y.user_id = q.user_id
    limit 1
  ) as x on true;
  h_count := cardinality(h.key);

  batch.share_place := array(
    select width_bucket(trading.holding_key(r.market_place[i], r_trader[i]), h.key)
      + case r.side[i] when 'no' then h_count else 0 end
    from generate_subscripts(r_trader, 1) as i
    order by i
  );
  if k.order_id is not null then
    -- A seller sells the other side than the one that the order is stored on.
    k.share_place := array(
      select width_bucket(
          trading.holding_key((k.book_place[i] + 1) / 2, k.trader_place[i]), h.key
        ) + case when (k.book_place[i] % 2 = 1) = k.is_buy[i] then 0 else h_count end
      from generate_subscripts(k.order_id, 1) as i
      order by i
    );
    batch.makers := k;
  end if;
  batch.holdings := h;
  return batch;
end
$$;

comment on function trading.read_holdings(trading.batch) is
  'Reads the shares of all traders of a call in its markets, under their locks, and says where '
  'those of each request and of each maker stand.';
