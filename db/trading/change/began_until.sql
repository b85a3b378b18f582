create or replace function trading.began_until(order_id bigint, last_order_id bigint)
returns boolean
language sql stable
return order_id <= last_order_id or exists (
  with recursive chain (id) as (
    select r.replaced_order_id
    from trading.order_replacements as r
    where r.order_id = began_until.order_id
    union all
    select r.replaced_order_id
    from chain as c
    join trading.order_replacements as r on r.order_id = c.id
    where c.id > began_until.last_order_id
  )
  select from chain as c where c.id <= began_until.last_order_id
);

comment on function trading.began_until(bigint, bigint) is
  'Whether an order is one of those up to last_order_id, or came by amendments in the place of '
  'one of them.';
