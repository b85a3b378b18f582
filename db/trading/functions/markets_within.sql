create or replace function trading.markets_within(
  market_ids bigint[], makers trading.resting_order[], most_makers int
)
returns bigint[]
language sql immutable
set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(array_agg(s.market_id order by s.place), '{}')
  from (
    select
      c.market_id, c.place,
      sum(c.makers) over (order by c.makers, c.place rows unbounded preceding) as makers_so_far -- mutant: deep_book_displaces
    from (
      select u.market_id, u.place, count(k.market) as makers
      from unnest(markets_within.market_ids) with ordinality as u (market_id, place)
      left join unnest(markets_within.makers) as k on k.market = u.place
      group by u.market_id, u.place
    ) as c
  ) as s
  where s.makers_so_far <= markets_within.most_makers;
end;

comment on function trading.markets_within(bigint[], trading.resting_order[], int) is
  'The markets of a batch, in their order, that have no more than so many makers of it together. '
  'Those with few makers come first, so that nobody else''s deep book displaces them.';
