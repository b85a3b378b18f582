create or replace function trading.read_markets(market_ids bigint[], at timestamptz)
returns trading.markets_read
language plpgsql stable
as $$
begin
  return (
    select (
      read_markets.market_ids, array_agg(r.public_id), bool_or(r.trading_paused),
      array_agg(r.is_open), array_agg(r.live_delay_ms), array_agg(r.taker_rate_bps),
      array_agg(r.fee_schedule_id), array_agg(r.escrow_cents), array_agg(r.escrow_version),
      array_agg(r.revenue_cents), array_agg(r.revenue_version), array_agg(r.version),
      array_agg(r.best_yes_price), array_agg(r.best_no_price), array_agg(r.first_yes_position),
      array_agg(r.first_no_position)
    )::trading.markets_read
    from (
      select
        m.public_id, x.trading_paused, e.live_delay_ms, f.taker_rate_bps, f.id as fee_schedule_id,
        m.status = 'open' and (m.close_time is null or m.close_time > read_markets.at)
          as is_open,
        s.escrow_cents::bigint, s.escrow_version, s.revenue_cents::bigint, s.revenue_version,
        s.version,
        s.best_yes_price, s.best_no_price, s.first_yes_position, s.first_no_position
      from unnest(read_markets.market_ids) with ordinality as u (id, place)
      cross join core.settings as x
      left join lateral (
        select y.* from catalog.markets as y where y.id = u.id limit 1
      ) as m on true
      left join lateral (
        select y.* from trading.market_state as y where y.market_id = u.id limit 1
      ) as s on true
      left join lateral (
        select y.live_delay_ms
        from catalog.events as y
        where y.id = m.event_id
          and y.live
          and (y.starts_at is null or y.starts_at <= read_markets.at)
          and (y.ends_at is null or y.ends_at > read_markets.at)
        limit 1
      ) as e on true
      left join lateral trading.fee_in_force(m.id, m.category_id, read_markets.at) as f on true
      order by u.place
    ) as r
  );
end
$$;

comment on function trading.read_markets(bigint[], timestamptz) is
  'What a call must know of its markets and the site, in the order of the ids. A null id stands '
  'for markets that do not exist. To be called under the markets'' locks.';
