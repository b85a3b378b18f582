create or replace function identity.is_confirmed("user" identity.users)
returns boolean
language sql immutable parallel safe
return ("user").email <> identity.unconfirmed_email(("user").public_id);

comment on function identity.is_confirmed(identity.users) is
  'Whether a user has an e-mail address that was confirmed, or that an operator gave.';
