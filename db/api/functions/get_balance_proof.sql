create or replace function api.get_balance_proof()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'publishedAt', core.iso8601(b.published_at),
    'root', encode(b.root, 'hex'),
    'totalCents', b.total_cents
  )
  from (select) as always
  left join (
    select p.* from ledger.balance_proofs as p order by p.id desc limit 1
  ) as b on true
$$;

comment on function api.get_balance_proof() is
  'The body of GET /proofs/balances: the last proof of balances. All null before the first one.';
