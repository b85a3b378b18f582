create table admin.personal_arguments (
  audit_id bigint primary key references admin.audit_log (id),
  user_id uuid,
  salt bytea,
  arguments jsonb,
  erased_by bigint references admin.audit_log (id),
  constraint personal_arguments_are_there_or_erased check (
    (erased_by is null) = (salt is not null)
    and (erased_by is null) = (arguments is not null)
  )
);

create index personal_arguments_of_a_user on admin.personal_arguments (user_id);
create index personal_arguments_of_an_address
  on admin.personal_arguments (lower((arguments ->> 'email') collate "C"))
  where user_id is null;

comment on table admin.personal_arguments is
  'The arguments of calls in admin.audit_log that say something about a person. The log has only '
  'their SHA-256 with a random salt: so admin.erase_user can take them away, and the sealed '
  'history stays as it was.';
comment on column admin.personal_arguments.user_id is
  'The user whom they are about: public id; null: none is known.';
comment on column admin.personal_arguments.arguments is
  'As an object by their names; of a proposal, all arguments of the proposed command.';
comment on column admin.personal_arguments.erased_by is
  'The call of admin.erase_user that took salt and arguments away; null: they are there.';
