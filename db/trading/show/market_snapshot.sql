-- Without sequential scans every look-up goes by a key, also in plans made on empty tables.
create or replace function trading.market_snapshot(market_id bigint, at timestamptz)
returns table (version bigint, body text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_most_trades constant int := 50;
begin
  return query
  select
    b.version,
    format(
      '{"orderBook":{"yesBids":[%s],"noBids":[%s]},"recentTrades":[%s],"tradersCount":%s}',
      d.yes_bids, d.no_bids, t.trades, b.traders_count
    )
  from trading.market_state as b
  cross join lateral (
    select
      string_agg(l.level, ',' order by l.book_price desc)
        filter (where l.book_side = 'yes') as yes_bids,
      string_agg(l.level, ',' order by l.book_price desc)
        filter (where l.book_side = 'no') as no_bids
    from (
      select
        s.book_side,
        s.book_price,
        format('{"price":%s,"quantity":%s}', s.book_price, s.quantity) as level
      from trading.depth(b.market_id, market_snapshot.at) as s
    ) as l
  ) as d
  cross join lateral (
    select string_agg(
      format(
        '{"price":%s,"quantity":%s,"createdAt":"%s","takerName":%s,"takerHandle":%s,'
        '"takerPrivate":%s,"side":"%s"}',
        r.price, r.quantity, core.iso8601(r.created_at), u.name, u.handle, u.private, r.taker_side
      ),
      ',' order by r.id desc
    ) as trades
    from (
      select s.id, s.price, s.quantity, s.created_at, s.taker_user_id, s.taker_side
      from trading.trades as s
      where s.market_id = b.market_id
      order by s.id desc
      limit c_most_trades
    ) as r
    cross join lateral (
      select
        case when s.private then 'null' else to_json(s.display_name)::text end as name,
        case when s.private then 'null' else to_json(s.handle)::text end as handle,
        to_json(s.private)::text as private
      from identity.users as s
      where s.id = r.taker_user_id
      limit 1
    ) as u
  ) as t
  where b.market_id = market_snapshot.market_id;
end
$$;

comment on function trading.market_snapshot(bigint, timestamptz) is
  'A frame of the market stream, with the book as of a time (trading.time_of_book): depth by '
  'stored side and price, the 50 latest trades and the number of traders, as JSON text on one '
  'line; and the version of the market that it shows. No row for an unknown market. Names of '
  'takers with private profiles are null.';
