create or replace function catalog.market_id(market_id uuid)
returns bigint
language plpgsql stable
as $$
declare
  v_id bigint;
begin
  select m.id into v_id
  from catalog.markets as m
  where m.public_id = market_id.market_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no market %s', coalesce(market_id.market_id::text, 'null')
    ));
  end if;
  return v_id;
end
$$;

comment on function catalog.market_id(uuid) is
  'The key of a market by its public id. Errors: NOT_FOUND.';
