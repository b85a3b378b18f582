create or replace function api.get_own_proof(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
  select json_build_object(
    'publishedAt', core.iso8601(b.published_at),
    'root', encode(b.root, 'hex'),
    'totalCents', b.total_cents,
    'balanceCents', l.balance_cents,
    'salt', encode(l.salt, 'hex'),
    'leafIndex', l.leaf_index,
    'path', coalesce(
      (
        select json_agg(
          json_build_object(
            'side', case when (l.leaf_index >> n.level) % 2 = 1 then 'left' else 'right' end,
            'hash', encode(n.hash, 'hex'),
            'sumCents', n.sum_cents
          )
          order by n.level
        )
        from generate_series(0, 62) as v (level)
        join ledger.proof_nodes as n
          on n.level = v.level
          and n.position = (l.leaf_index >> v.level) # 1
      ),
      '[]'
    )
  )
  from (
    select p.* from ledger.balance_proofs as p order by p.id desc limit 1
  ) as b
  join ledger.proof_leaves as l on l.public_id = get_own_proof.user_id
$$;

comment on function api.get_own_proof(uuid) is
  'The body of GET /me/proof: the user''s leaf in the last proof of balances, and the other node '
  'of each pair on the way up; a level where the node is the odd one has none. Null if there is '
  'no proof, or the user came later.';
