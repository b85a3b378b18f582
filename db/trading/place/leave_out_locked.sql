create or replace function trading.leave_out_locked(batch trading.batch)
returns text[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant trading.requests := batch.requests;
  k constant trading.makers := batch.makers;
  v_locked_ids constant bigint[] := trading.lock_free_traders(
    array(
      select r.user_id[i]
      from generate_subscripts(r.code, 1) as i
      where r.code[i] is null
        and r.user_id[i] is not null
    ) || k.user_id
  );
  v_takers constant boolean := exists (
    select
    from generate_subscripts(r.code, 1) as i
    where r.code[i] is null
      and r.user_id[i] = any (v_locked_ids)
  );
  v_markets constant int[] := array(
    select distinct (k.book_place[i] + 1) / 2
    from generate_subscripts(k.order_id, 1) as i
    where k.user_id[i] = any (v_locked_ids)
  );
begin
  return array(
    select case
      when r.code[i] is not null then r.code[i]
      -- Orders of a locked user wait without the others of their market. If a maker is locked, all
      -- orders of the market wait: they may not pass over it.
      when case when v_takers
        then r.user_id[i] = any (v_locked_ids)
        else r.market_place[i] = any (v_markets)
      end then 'AGAIN'
    end
    from generate_subscripts(r.code, 1) as i
    order by i
  );
end
$$;

comment on function trading.leave_out_locked(trading.batch) is
  'The codes of the requests of a call when another transaction has locked one of its users: '
  'AGAIN of those users, or else of all requests in markets where one of them could '
  'be met. Locks those of the users who are free.';
