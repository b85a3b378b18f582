create or replace function trading.leave_out_locked(batch trading.batch)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant trading.requests := batch.requests;
  k constant trading.makers := batch.makers;
begin
  -- Orders of a locked user wait without the others of their market. If a maker is locked, all
  -- orders of the market wait: they may not pass over it.
  if exists (
    select
    from generate_subscripts(r.code, 1) as i
    where r.code[i] is null
      and r.user_id[i] = any (batch.locked_user_ids)
  ) then
    return trading.leave_out(r, '{}', batch.locked_user_ids);
  end if;
  return trading.leave_out(
    r,
    array(
      select (k.book_place[i] + 1) / 2
      from generate_subscripts(k.order_id, 1) as i
      where k.user_id[i] = any (batch.locked_user_ids)
    ),
    '{}'
  );
end
$$;

comment on function trading.leave_out_locked(trading.batch) is
  'The codes of the requests of a call when another transaction has locked some of its users '
  '(locked_user_ids): AGAIN of those users, or else of all requests in markets where one of them '
  'could be met.';
