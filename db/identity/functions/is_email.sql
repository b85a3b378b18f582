create or replace function identity.is_email(email text)
returns boolean
language sql immutable parallel safe
return email ~ '^[^@[:space:]]+@[^@[:space:]]+$' and length(email) <= 320;

comment on function identity.is_email(text) is
  'Whether a text looks like an e-mail address: name@domain without spaces, at most 320 '
  'characters. Null for null.';
