create or replace view ledger.proof_parents as
select
  c.level as child_level,
  c.position / 2 as position,
  c.sum_cents + coalesce(r.sum_cents, 0) as sum_cents,
  case
    when r.position is null then c.hash
    else ledger.node_hash(c.sum_cents, c.hash, r.sum_cents, r.hash)
  end as hash
from ledger.proof_nodes as c
left join ledger.proof_nodes as r on r.level = c.level and r.position = c.position + 1
where c.position % 2 = 0
  and (c.position > 0 or r.position is not null);

comment on view ledger.proof_parents is
  'The nodes that belong above those of ledger.proof_nodes. The last of a level with an odd number '
  'is carried up as it is, and never paired with itself. Above a single node there is none.';
comment on column ledger.proof_parents.child_level is 'The level below.';
comment on column ledger.proof_parents.position is 'The place on the level above child_level.';
comment on column ledger.proof_parents.sum_cents is 'The sum of the children.';
comment on column ledger.proof_parents.hash is
  'ledger.node_hash of both children, or the hash of the only one.';
