create or replace view admin.notes as
select
  n.id as note_key,
  n.at as written_at,
  u.public_id as user_id,
  s.public_id as staff_id,
  s.name as staff_name,
  n.operator,
  n.note
from admin.user_notes as n
join identity.users as u on u.id = n.user_id
left join identity.staff as s on s.id = n.staff_id;

comment on view admin.notes is 'What staff wrote about users, for other staff.';
comment on column admin.notes.note_key is 'Internal key, ascending in the order of the notes.';
comment on column admin.notes.written_at is 'When it was written.';
comment on column admin.notes.user_id is 'Whom it is about: public id.';
comment on column admin.notes.staff_id is
  'Who wrote it: admin.staff.staff_id; null: a login or a key of no member of staff.';
comment on column admin.notes.staff_name is 'Their name.';
comment on column admin.notes.operator is 'The login that called.';
comment on column admin.notes.note is 'What was written.';
