-- As in ledger.verify_calls, a row of the audit log that says nothing sensible gives a row here.
create or replace function admin.verify_proposals()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  rule_calls as (
    select
      a.id, a.arguments ->> 'command' as command, a.action = 'set_approval_rule' as is_set,
      concat_ws(' ', a.arguments ->> 'role', 'from', a.arguments ->> 'from_cents') as terms,
      case when a.arguments ->> 'from_cents' ~ '^[0-9]{1,19}$'
        then (a.arguments ->> 'from_cents')::numeric end as from_cents,
      lead(a.id) over (partition by a.arguments ->> 'command' order by a.id) as next_id
    from admin.audit_log as a
    where a.action in ('set_approval_rule', 'remove_approval_rule')
  ),
  -- Calls that may need approval, with their amounts.
  calls as (
    select
      a.id, a.action, a.staff_id, a.proposal_id, c.approval,
      (
        select abs(sum(case when b.cents ~ '^-?[0-9]{1,19}$' then b.cents::numeric end))
        from (
          select a.arguments ->> 'amount_cents' as cents
          union all
          select x.entry ->> 'amount_cents'
          from jsonb_array_elements(
            case jsonb_typeof(a.arguments -> 'users') when 'array' then a.arguments -> 'users' end
          ) as x (entry)
        ) as b
      ) as cents
    from admin.audit_log as a
    join admin.commands as c on c.command = a.action
    where c.approval <> 'never'
      and not a.arguments ? 'gives_to_market_id' -- part of the call before it
  ),
  proposing as (
    select
      a.arguments ->> 'proposal_id' as proposal_id, a.staff_id,
      concat_ws(
        ' ', a.arguments ->> 'command', coalesce(p.arguments, a.arguments) -> 'arguments', 'for',
        case when p.erased_by is null then p.arguments ->> 'reason' else 'erased' end,
        'by', a.staff_id
      ) as terms
    from admin.audit_log as a
    left join admin.personal_arguments as p on p.audit_id = a.id
    where a.action = 'propose'
  ),
  proposals as (
    select
      p.id, p.public_id::text as proposal_id, p.command, p.status, p.decided_by,
      concat_ws(' ', p.command, p.arguments, 'for', p.reason, 'by', p.proposed_by) as terms,
      concat_ws(' ', p.status, 'by', p.decided_by, p.rejection) as decision
    from admin.proposed_calls as p
  ),
  deciding as (
    select
      a.arguments ->> 'proposal_id' as proposal_id, a.action, a.staff_id,
      concat_ws(
        ' ', case a.action when 'approve' then 'approved' else 'rejected' end, 'by', a.staff_id,
        case when p.erased_by is null then p.arguments ->> 'reason' else 'erased' end
      ) as decision
    from admin.audit_log as a
    left join admin.personal_arguments as p on p.audit_id = a.id
    where a.action in ('approve', 'reject')
  )
  select 'approval rule is that of the last call', 'rule for ' || coalesce(r.command, c.command),
    coalesce(c.terms, 'none'), coalesce(r.terms, 'none')
  from (
    select x.command, concat_ws(' ', x.role, 'from', x.from_cents) as terms
    from admin.rules as x
  ) as r
  full join (
    select x.command, x.terms from rule_calls as x where x.is_set and x.next_id is null
  ) as c on c.command = r.command
  where r.terms is distinct from c.terms

  -- A call that changes a rule is one under the rule before.
  union all
  select 'call that needs approval has its proposal', 'call ' || c.id, 'a proposal', 'none'
  from calls as c
  where c.proposal_id is null
    and (
      c.approval = 'always'
      or exists (
        select
        from rule_calls as r
        where r.command = c.action
          and r.is_set
          and c.id > r.id
          and (c.id <= r.next_id) is not false
          and (c.cents >= r.from_cents) is not false
      )
    )

  union all
  select 'proposal is what was called for', 'proposal ' || coalesce(p.proposal_id, c.proposal_id),
    coalesce(c.terms, 'none'), coalesce(p.terms, 'none')
  from proposals as p
  full join proposing as c on c.proposal_id = p.proposal_id
  where p.terms is distinct from c.terms

  union all
  select 'proposal was decided as was called for',
    'proposal ' || coalesce(p.proposal_id, c.proposal_id), coalesce(c.decision, 'open'),
    coalesce(p.decision, 'open')
  from (select x.* from proposals as x where x.status <> 'open') as p
  full join deciding as c on c.proposal_id = p.proposal_id
  where p.decision is distinct from c.decision

  union all
  select 'proposal was approved by another than proposed it', 'proposal ' || c.proposal_id,
    'another', 'staff ' || c.staff_id
  from deciding as c
  join proposing as p on p.proposal_id = c.proposal_id
  where c.action = 'approve'
    and (p.staff_id <> c.staff_id) is not true

  union all
  select 'approved proposal was carried out', 'proposal ' || coalesce(p.id, c.proposal_id),
    coalesce('one ' || p.command || ' by ' || p.decided_by, 'none'),
    coalesce(c.calls, 'none')
  from (select x.* from proposals as x where x.status = 'approved') as p
  full join (
    select
      x.proposal_id,
      string_agg('one ' || x.action || ' by ' || coalesce(x.staff_id, 0), ', ' order by x.id)
        as calls
    from calls as x
    where x.proposal_id is not null
    group by x.proposal_id
  ) as c on c.proposal_id = p.id
  where c.calls is distinct from 'one ' || p.command || ' by ' || p.decided_by

  union all
  select 'no proposal is being carried out', 'proposal ' || p.public_id, 'not running', 'running'
  from admin.proposed_calls as p
  where p.is_running
$$;

comment on function admin.verify_proposals() is
  'The part of ledger.verify() about approvals: rules and proposals are as the calls in '
  'admin.audit_log say, who approved is not who proposed, what was approved was carried out once, '
  'and no call that needed approval went without. One row for each broken invariant. Not for '
  'operators.';
