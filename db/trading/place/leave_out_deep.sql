create or replace function trading.leave_out_deep(
  batch trading.batch, most_makers int, by_order boolean
)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant trading.requests := batch.requests;
  k constant trading.makers := batch.makers;
  m_id constant bigint[] := (batch.markets).id;
  v_open constant int[] := array(
    select i from generate_subscripts(r.code, 1) as i where r.code[i] is null order by i
  );
  v_shares bigint;
  v_length int;
begin
  if not by_order then
    -- The markets with the fewest makers, as far as the bound allows.
    return trading.leave_out(
      r, m_id,
      array(
        select m_id[s.place]
        from (
          select
            c.place,
            sum(c.makers) over (order by c.makers, c.place rows unbounded preceding) as so_far
          from (
            select g as place, count(b.book_place) as makers
            from generate_subscripts(m_id, 1) as g
            left join unnest(k.book_place) as b (book_place) on (b.book_place + 1) / 2 = g
            group by g
          ) as c
        ) as s
        where s.so_far <= most_makers
      )
    );
  end if;

  -- The first orders, as many as take no more shares than these makers have.
  v_shares := (select sum(q) from unnest(k.left_quantity[1 : most_makers]) as q);
  v_length := (
    select case when cardinality(v_open) > 1
      then greatest(1, least(count(*) filter (where w.shares <= v_shares), count(*) * 3 / 4))
      else 0
    end
    from (
      select
        sum(
          case when r.book_price[i] + b.book_price >= 100
            then coalesce(r.quantity[i], 10000) else 0 end
        ) over (order by i rows unbounded preceding) as shares
      from unnest(v_open) as i
      left join (
        select y.book_place, max(y.book_price) as book_price
        from unnest(k.book_place, k.book_price) as y (book_place, book_price)
        group by y.book_place
      ) as b on b.book_place = 2 * r.market_place[i] - case when r.is_yes[i] then 0 else 1 end
    ) as w
  );
  return array(
    select case
      when r.code[i] is not null then r.code[i]
      when i <> all (v_open[1 : v_length]) then 'AGAIN'
    end
    from generate_subscripts(r.code, 1) as i
    order by i
  );
end
$$;

comment on function trading.leave_out_deep(trading.batch, int, boolean) is
  'The codes of the requests of a call that could meet more than most_makers: those that are left '
  'out are AGAIN. by_order: the first ones stay, as many as fit; not even the first one if it '
  'is left alone. Otherwise the markets with the fewest makers stay.';
