create or replace function admin.verify_personal_arguments()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'personal arguments are those of the call', 'call ' || coalesce(a.id, p.audit_id),
    coalesce(a.terms, 'none'), coalesce(p.terms, 'none')
  from (
    select
      x.id,
      concat_ws(
        ' of user ', encode(x.personal_digest, 'hex'),
        coalesce(
          x.arguments ->> 'user_id', x.arguments #>> '{arguments,user_id}',
          c.arguments ->> 'user_id'
        )
      ) as terms
    from admin.audit_log as x
    left join admin.proposed_calls as c on c.public_id::text = x.arguments ->> 'proposal_id'
    where x.personal_digest is not null
  ) as a
  full join (
    select
      x.audit_id, x.erased_by,
      concat_ws(
        ' of user ', encode(sha256(x.salt || convert_to(x.arguments::text, 'UTF8')), 'hex'),
        x.user_id
      ) as terms
    from admin.personal_arguments as x
  ) as p on p.audit_id = a.id
  where a.terms is distinct from p.terms
    and (p.erased_by is null or a.id is null)

  union all
  select 'personal arguments were erased as was called for', 'call ' || p.audit_id,
    'an erasure of user ' || p.user_id, coalesce(e.action, 'none')
  from admin.personal_arguments as p
  left join admin.audit_log as e on e.id = p.erased_by
  where p.erased_by is not null
    and (e.action = 'erase_user' and e.arguments ->> 'user_id' = p.user_id::text) is not true
$$;

comment on function admin.verify_personal_arguments() is
  'The part of ledger.verify() about the personal arguments of calls: they are those whose SHA-256 '
  'is in admin.audit_log, or an erasure took them away. One row for each broken invariant. Not for '
  'operators.';
