create or replace function ledger.verify_proof()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  proof as (
    -- A call that began before the proof may have moved cash just after it.
    select b.*, b.published_at - interval '1 minute' as settled_at
    from ledger.balance_proofs as b
    order by b.id desc
    limit 1
  ),
  -- The last entry of each leaf and the one after it: all entries are read once.
  lines as materialized (
    select
      l.leaf_index, e.account_version = l.account_version as is_last, e.balance_after_cents,
      e.journal_id
    from ledger.proof_leaves as l
    join ledger.entries as e
      on e.account_id = ledger.user_account_id(l.user_id)
      and e.account_version between l.account_version and l.account_version + 1
  ),
  leaves as (
    select
      l.*, e.balance_after_cents as cash_cents,
      case
        when l.account_version = 0 or e.balance_after_cents < 0 then 0
        else e.balance_after_cents
      end as due_cents
    from ledger.proof_leaves as l
    left join lines as e on e.leaf_index = l.leaf_index and e.is_last
  ),
  due_nodes as (
    select
      0 as level, l.leaf_index as position, l.balance_cents as sum_cents,
      ledger.leaf_hash(l.salt, l.public_id, l.leaf_index, l.balance_cents) as hash
    from leaves as l
    union all
    select p.child_level + 1, p.position, p.sum_cents, p.hash
    from ledger.proof_parents as p
  ),
  due_figures as (
    select i.item, i.value
    from (select) as always
    left join (
      select n.* from ledger.proof_nodes as n order by n.level desc, n.position limit 1
    ) as t on true
    cross join (
      select
        count(*) as leaf_count,
        sum(-l.cash_cents) filter (where l.cash_cents < 0) as owed_cents
      from leaves as l
    ) as s
    cross join (
      select case p.outside_version when 0 then '0' else e.balance_after_cents::text end
      from (select) as always
      left join proof as p on true
      -- No trade has a line of this account.
      left join ledger.posted_entries as e
        on e.account_id = ledger.outside_account_id()
        and e.account_version = p.outside_version
    ) as o (outside_cents)
    cross join lateral (
      values
        ('leaves', s.leaf_count::text),
        ('total', coalesce(t.sum_cents, 0)::text),
        ('root', encode(coalesce(t.hash, sha256('')), 'hex')),
        ('receivables', coalesce(s.owed_cents, 0)::text),
        ('outside world', o.outside_cents)
    ) as i (item, value)
  ),
  figures as (
    select i.item, i.value
    from proof as p
    cross join lateral (
      values
        ('leaves', p.leaf_count::text),
        ('total', p.total_cents::text),
        ('root', encode(p.root, 'hex')),
        ('receivables', p.receivable_cents::text),
        ('outside world', p.outside_cents::text)
    ) as i (item, value)
  )
  select 'leaf of the last proof is the cash of its user', 'user ' || l.user_id,
    coalesce(l.due_cents::text, 'none'), l.balance_cents::text
  from leaves as l
  where l.balance_cents is distinct from l.due_cents

  union all
  select 'leaf of the last proof has the last entry of its user', 'user ' || l.user_id,
    'none after entry ' || l.account_version || ' before ' || p.settled_at,
    'one at ' || j.created_at
  from proof as p
  cross join ledger.proof_leaves as l
  join lines as e on e.leaf_index = l.leaf_index and not e.is_last
  join ledger.journals as j on j.id = e.journal_id
  where j.created_at < p.settled_at

  union all
  select 'user of the last proof has a leaf', 'user ' || u.id,
    u.public_id::text, coalesce(l.public_id::text, 'none')
  from proof as p
  cross join identity.users as u
  left join leaves as l on l.user_id = u.id
  where u.created_at < p.settled_at
    and l.public_id is distinct from u.public_id

  union all
  select 'node of the last proof is made of what is below',
    case coalesce(d.level, n.level) when 0 then 'leaf ' else 'node of level '
      || coalesce(d.level, n.level) || ', ' end || coalesce(d.position, n.position),
    coalesce(d.sum_cents || ' cents, ' || encode(d.hash, 'hex'), 'none'),
    coalesce(n.sum_cents || ' cents, ' || encode(n.hash, 'hex'), 'none')
  from due_nodes as d
  full join ledger.proof_nodes as n on n.level = d.level and n.position = d.position
  where n.sum_cents is distinct from d.sum_cents
    or n.hash is distinct from d.hash

  union all
  select 'last proof is that of its leaves and of the ledger', d.item,
    d.value, coalesce(f.value, 'none')
  from due_figures as d
  left join figures as f on f.item = d.item
  where f.value is distinct from d.value
    and (
      exists (select from proof)
      or exists (select from ledger.proof_nodes)
      or exists (select from ledger.proof_leaves)
    )
$$;

comment on function ledger.verify_proof() is
  'The part of ledger.verify() about the last proof of balances: each user has a leaf, which is '
  'the cash at the last entry before the proof (of its last minute, any), the tree is made of the '
  'leaves, and root, total and other figures are those of the tree and of the ledger. One row for '
  'each broken invariant.';
