create or replace function identity.unconfirmed_email(public_id uuid)
returns text
language sql immutable parallel safe
return public_id::text || '@unconfirmed.invalid';

comment on function identity.unconfirmed_email(uuid) is
  'What stands in identity.users.email until the user has confirmed an address. No mail goes to '
  'it: the domain invalid never exists.';
