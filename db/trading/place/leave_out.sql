create or replace function trading.leave_out(
  batch trading.batch, most_makers int, by_order boolean
)
returns text[]
language plpgsql immutable
as $$
declare
  r constant trading.requests := batch.requests;
  k constant trading.makers := batch.makers;
  v_open constant int[] := array(
    select i from generate_subscripts(r.code, 1) as i where r.code[i] is null order by i
  );
  v_last int := cardinality(r.code); -- the requests behind it are left out,
  v_market_places int[] := '{}'; -- those of these markets,
  v_user_ids constant bigint[] := coalesce(batch.locked_user_ids, '{}'); -- and of these users
begin
  if batch.is_too_deep and by_order then
    v_last := coalesce(v_open[cardinality(v_open) / 2], 0);
  elsif batch.is_too_deep then
    -- The markets with the fewest makers stay, as far as the bound allows.
    v_market_places := array(
      select s.place
      from (
        select
          m.place,
          sum(count(*)) over (order by count(*), m.place rows unbounded preceding) as so_far
        from unnest(k.book_place) as b (book_place)
        cross join lateral (select (b.book_place + 1) / 2) as m (place)
        group by m.place
      ) as s
      where s.so_far > most_makers
    );
  elsif not exists (select from unnest(v_open) as i where r.user_id[i] = any (v_user_ids)) then
    -- Orders of a locked user wait without the others of their market. If a maker is locked, all
    -- orders of the market wait: they may not pass over it.
    v_market_places := array(
      select (k.book_place[i] + 1) / 2
      from generate_subscripts(k.order_id, 1) as i
      where k.user_id[i] = any (v_user_ids)
    );
  end if;
  return array(
    select case
      when r.code[i] is not null then r.code[i]
      when i > v_last or r.market_place[i] = any (v_market_places)
        or r.user_id[i] = any (v_user_ids) then 'AGAIN'
    end
    from generate_subscripts(r.code, 1) as i
    order by i
  );
end
$$;

comment on function trading.leave_out(trading.batch, int, boolean) is
  'The codes of the requests of a call that was read and not matched: AGAIN for those that are '
  'left out, for the others what it was. Left out are the requests of users who are locked '
  'elsewhere, or of the markets of makers who are. If the requests could meet more than '
  'most_makers, by_order: the first half of them stays, so none if it is one. Otherwise the '
  'markets with the fewest makers stay: for calls of many markets, which wait for no market.';
