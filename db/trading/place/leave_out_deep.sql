create or replace function trading.leave_out_deep(
  batch trading.batch, most_makers int, by_order boolean
)
returns text[]
language plpgsql immutable
as $$
declare
  r constant trading.requests := batch.requests;
  k constant trading.makers := batch.makers;
  v_codes text[] := r.code;
  v_open int[];
begin
  if not by_order then
    -- The markets with the fewest makers stay, as far as the bound allows.
    return trading.leave_out(
      r,
      array(
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
      ),
      '{}'
    );
  end if;
  v_open := array(
    select i from generate_subscripts(r.code, 1) as i where r.code[i] is null order by i
  );
  for n in cardinality(v_open) / 2 + 1 .. cardinality(v_open) loop
    v_codes[v_open[n]] := 'AGAIN';
  end loop;
  return v_codes;
end
$$;

comment on function trading.leave_out_deep(trading.batch, int, boolean) is
  'The codes of the requests of a call that could meet more than most_makers: AGAIN for those that '
  'are left out, for the others what it was. by_order: the first half of them stays, so none if it '
  'is one. Otherwise the markets with the fewest makers stay: for calls of many markets, which '
  'wait for no market.';
