create table admin.proposed_calls (
  id bigint generated always as identity primary key,
  public_id uuid not null default core.uuid_v7(),
  command text not null references admin.commands (command),
  arguments jsonb not null,
  reason text not null,
  proposed_by bigint not null references identity.staff (id),
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  basis jsonb not null,
  preview jsonb,
  is_running boolean not null default false,
  status text not null default 'open',
  decided_by bigint references identity.staff (id),
  decided_at timestamptz,
  rejection text,
  result jsonb,
  constraint proposed_calls_public_id_is_unique unique (public_id),
  constraint proposed_calls_have_a_reason
    check (not core.is_blank(reason) and length(reason) <= 1000),
  constraint proposed_calls_expire_after_they_are_made check (expires_at > proposed_at),
  constraint proposed_calls_are_open_approved_or_rejected
    check (status in ('open', 'approved', 'rejected')),
  constraint proposed_calls_are_open_until_somebody_decides check (
    (status = 'open') = (decided_by is null)
    and (status = 'open') = (decided_at is null)
  ),
  constraint proposed_calls_are_approved_by_another_than_proposed
    check (status <> 'approved' or decided_by <> proposed_by),
  constraint proposed_calls_are_rejected_for_a_reason check (
    (status = 'rejected') = (rejection is not null)
    and (not core.is_blank(rejection) and length(rejection) <= 1000) is not false
  )
);

create index proposed_calls_that_run on admin.proposed_calls (id) where is_running;

comment on table admin.proposed_calls is
  'Calls of functions of schema admin that a member of staff proposed, for another to approve.';
comment on column admin.proposed_calls.basis is
  'What the decision rests on, as admin.basis found it: if that has changed, no approval is '
  'possible.';
comment on column admin.proposed_calls.preview is
  'What the command returned when it was tried and rolled back; null for nothing or a secret.';
comment on column admin.proposed_calls.is_running is
  'Whether the command is being tried or carried out now. Only the transaction that does it sees '
  'true, and commits false: so nobody else can pass for it.';
comment on column admin.proposed_calls.result is
  'What the command returned when it was carried out; null for nothing or a secret.';
