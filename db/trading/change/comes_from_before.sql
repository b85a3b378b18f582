create or replace function trading.comes_from_before(order_id bigint, last_order_id bigint)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive chain (id) as (
    select r.replaced_order_id
    from trading.order_replacements as r
    where r.order_id = comes_from_before.order_id
    union all
    select r.replaced_order_id
    from chain as c
    join trading.order_replacements as r on r.order_id = c.id
    where c.id > comes_from_before.last_order_id
  )
  select coalesce(min(c.id) <= comes_from_before.last_order_id, false)
  from chain as c
$$;

comment on function trading.comes_from_before(bigint, bigint) is
  'Whether an order came by amendments in the place of an order up to last_order_id.';
