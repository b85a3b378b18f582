create or replace view admin.staff as
select
  s.id as staff_key,
  s.public_id as staff_id,
  s.email,
  s.name,
  s.roles,
  s.login,
  s.password_hash is not null as has_accepted,
  (
    select count(*) from identity.staff_passkeys as p where p.staff_id = s.id
  )::int as passkeys,
  (
    select greatest(max(p.last_used_at), min(p.created_at))
    from identity.staff_passkeys as p
    where p.staff_id = s.id
  ) as last_sign_in_at,
  s.created_at,
  s.removed_at
from identity.staff as s;

comment on view admin.staff is 'The people who run the exchange, removed ones too.';
comment on column admin.staff.staff_key is 'Internal key, for joins.';
comment on column admin.staff.staff_id is 'Public id, as the functions take it.';
comment on column admin.staff.email is 'E-mail; no two who are staff have the same.';
comment on column admin.staff.name is 'What they are called.';
comment on column admin.staff.roles is
  'What they may do: markets, cash, users, incidents, audit (reads only), staff.';
comment on column admin.staff.login is
  'The login of the database that is the same person; null: none is known.';
comment on column admin.staff.has_accepted is
  'Whether they have a password: the invitation was accepted.';
comment on column admin.staff.passkeys is 'How many passkeys they have.';
comment on column admin.staff.last_sign_in_at is
  'When they last signed in, making the first passkey included; null: never.';
comment on column admin.staff.created_at is 'When they were made staff.';
comment on column admin.staff.removed_at is 'When they were removed; null: they are staff.';
