create table admin.user_notes (
  id bigint generated always as identity primary key,
  user_id bigint not null references identity.users (id),
  at timestamptz not null,
  staff_id bigint references identity.staff (id),
  operator text not null,
  note text not null,
  constraint user_notes_are_not_blank check (not core.is_blank(note) and length(note) <= 4000)
);

create index user_notes_of_a_user on admin.user_notes (user_id, id);

comment on table admin.user_notes is
  'What staff wrote about users, for other staff. The audit log does not repeat the words: they '
  'are personal data.';
comment on column admin.user_notes.staff_id is
  'Who wrote it; null: a login or a key of no member of staff.';
comment on column admin.user_notes.operator is 'The login that called.';
