create or replace function api.spend_tokens(user_ids uuid[], counts int[])
returns setof rate_limits.payment
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
begin
  if (cardinality(spend_tokens.counts) = cardinality(spend_tokens.user_ids)
    and 1 <= all (spend_tokens.counts)) is not true
  then
    perform core.raise_error('INVALID_REQUEST', 'counts must have a number of tokens for each');
  end if;
  return query
    select t.*
    from unnest(rate_limits.spend_tokens(spend_tokens.user_ids, spend_tokens.counts)) as t;
end
$$;

comment on function api.spend_tokens(uuid[], int[]) is
  'Counts trading requests of users (v1-trading), as rate_limits.spend_tokens does: for requests '
  'that do not pay in the transaction of their order. Errors: INVALID_REQUEST. Locks: the token '
  'buckets.';
