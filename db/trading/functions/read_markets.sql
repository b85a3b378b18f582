create or replace function trading.read_markets(market_ids bigint[], at timestamptz)
returns trading.market_context[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(
      (
        m.id, m.public_id, m.title, m.category_id, read_markets.at, x.trading_paused,
        m.status = 'open' and (m.close_time is null or m.close_time > read_markets.at), -- mutant: market_open_a_moment_longer
        (
          select e.live_delay_ms
          from catalog.events as e
          where e.id = m.event_id
            and e.live
            and (e.starts_at is null or e.starts_at <= read_markets.at)
            and (e.ends_at is null or e.ends_at > read_markets.at) -- mutant: live_a_moment_longer
        ),
        f.taker_rate_bps, f.id, s.escrow_cents, s.escrow_version, s.revenue_cents,
        s.revenue_version, s.best_yes_price, s.first_yes_position, s.best_no_price,
        s.first_no_position
      )::trading.market_context
      order by u.place
    )
    from unnest(read_markets.market_ids) with ordinality as u (id, place)
    cross join core.settings as x
    left join catalog.markets as m on m.id = u.id
    left join trading.market_state as s on s.market_id = u.id
    left join lateral trading.fee_in_force(m.id, m.category_id, read_markets.at) as f on true
  );
end
$$;

comment on function trading.read_markets(bigint[], timestamptz) is
  'What a batch must know of its markets and the site, in the order of the ids. A null id stands '
  'for a market that does not exist. To be called under the markets'' locks.';
