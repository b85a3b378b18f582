-- Tables that were just filled have no statistics: only sorts and hashes keep their time in check.
create or replace function ledger.publish_proof()
returns ledger.balance_proofs
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set enable_nestloop = off
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
  v_proof ledger.balance_proofs;
  v_sum_cents bigint;
  v_top ledger.proof_nodes;
  v_level int := 0;
  v_count bigint;
begin
  perform core.check_session();
  if not ledger.is_settled() then
    perform core.raise_error(
      'INVALID_STATE', 'A transaction that moves cash or shares stays open: end it, and call again'
    );
  end if;
  lock table ledger.balance_proofs in share row exclusive mode;
  delete from ledger.proof_leaves;
  delete from ledger.proof_nodes;

  -- One statement, so that all accounts are read in one snapshot.
  v_proof.published_at := core.now();
  with leaves as (
    insert into ledger.proof_leaves as l (
      leaf_index, user_id, public_id, balance_cents, account_version, salt
    )
    select
      row_number() over (order by t.draw) - 1, t.user_id, t.public_id,
      greatest(t.balance_cents, 0), t.account_version,
      sha256(
        uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
      )
    from (
      select r.user_id, r.public_id, r.balance_cents, r.account_version, gen_random_uuid() as draw
      from trading.traders as r
    ) as t
    returning l.balance_cents
  )
  select
    c.leaf_count::core.amount, c.total_cents::core.amount, o.receivable_cents::core.amount,
    m.escrow_cents::core.amount, m.revenue_cents::core.amount, w.balance_cents, w.account_version
  into strict
    v_proof.leaf_count, v_proof.total_cents, v_proof.receivable_cents,
    v_proof.escrow_cents, v_proof.revenue_cents, v_proof.outside_cents, v_proof.outside_version
  from ledger.outside_world as w
  cross join (
    select count(*) as leaf_count, coalesce(sum(l.balance_cents), 0) as total_cents
    from leaves as l
  ) as c
  cross join (
    select coalesce(sum(-t.balance_cents), 0) as receivable_cents
    from trading.traders as t
    where t.balance_cents < 0
  ) as o
  cross join (
    select
      coalesce(sum(s.escrow_cents), 0)
        + (select coalesce(sum(e.escrow_cents), 0) from catalog.events as e) as escrow_cents,
      coalesce(sum(s.revenue_cents), 0) as revenue_cents
    from trading.market_state as s
  ) as m;
  v_sum_cents := v_proof.total_cents - v_proof.receivable_cents + v_proof.escrow_cents
    + v_proof.revenue_cents + v_proof.outside_cents;
  if v_sum_cents <> 0 then
    perform core.raise_error('INVALID_STATE', format(
      'The balances are not published: all accounts sum to %s cents, and not to 0. See '
      'ledger.verify()', v_sum_cents
    ));
  end if;

  insert into ledger.proof_nodes (level, position, sum_cents, hash)
  select
    0, l.leaf_index, l.balance_cents,
    ledger.leaf_hash(l.salt, l.public_id, l.leaf_index, l.balance_cents)
  from ledger.proof_leaves as l;
  loop
    insert into ledger.proof_nodes (level, position, sum_cents, hash)
    select v_level + 1, p.position, p.sum_cents, p.hash
    from ledger.proof_parents as p
    where p.child_level = v_level;
    get diagnostics v_count = row_count;
    exit when v_count = 0;
    v_level := v_level + 1;
  end loop;
  select n.* into v_top from ledger.proof_nodes as n where n.level = v_level;
  v_proof.root := coalesce(v_top.hash, sha256(''));

  -- Only now does it take an id: until a transaction that has one ends, nothing is sealed.
  insert into ledger.balance_proofs as b (
    published_at, leaf_count, total_cents, receivable_cents, escrow_cents, revenue_cents,
    outside_cents, outside_version, root
  )
  values (
    v_proof.published_at, v_proof.leaf_count, v_proof.total_cents, v_proof.receivable_cents,
    v_proof.escrow_cents, v_proof.revenue_cents, v_proof.outside_cents, v_proof.outside_version,
    v_proof.root
  )
  returning b.* into v_proof;
  return v_proof;
end
$$;

comment on function ledger.publish_proof() is
  'Publishes a proof of balances: a Merkle sum tree over the cash of all users, of one snapshot. '
  'Its leaves and nodes replace those of the proof before. Errors: INVALID_STATE (the accounts do '
  'not sum to zero, a transaction that moves cash or shares stays open), UNFIT_SESSION. Locks: '
  'ledger.balance_proofs in mode share row exclusive, so that one is made at a time. It locks '
  'nothing that trading waits for.';
