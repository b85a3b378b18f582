create or replace function api.list_sparklines(market_ids uuid[])
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with charted as (
      select
        interval '4 hours' as step,
        date_bin(interval '4 hours', core.now(), '2000-01-01 00:00:00+00') as last_start,
        42 as steps
    )
    select json_build_object(
      'from', core.iso8601(w.last_start - (w.steps - 1) * w.step),
      'stepSeconds', extract(epoch from w.step)::int,
      'data', coalesce(
        (
          select json_agg(
            json_build_object(
              'marketId', m.public_id,
              'prices', (
                select json_agg(
                  case
                    -- The trades of the last minute have no candle yet.
                    when i.place = w.steps then b.last_trade_price
                    else (
                      select c.close_price
                      from trading.candles as c
                      where c.market_id = m.id
                        and c.width_minutes = 60
                        and c.start_at < w.last_start - (w.steps - 1 - i.place) * w.step
                      order by c.start_at desc
                      limit 1
                    )
                  end
                  order by i.place
                )
                from generate_series(1, w.steps) as i (place)
              )
            )
            order by m.public_id
          )
          from catalog.markets as m
          join trading.market_state as b on b.market_id = m.id
          where m.public_id = any (list_sparklines.market_ids)
        ),
        '[]'
      )
    )
    from charted as w
  );
end
$$;

comment on function api.list_sparklines(uuid[]) is
  'The body of GET /sparklines: for each of these markets its last YES price at the end of every '
  'four hours of the last seven days, the oldest first, null before the first trade; the last one '
  'is the price now. Unknown markets are left out. Cost: 42 rows of candles for each market.';
