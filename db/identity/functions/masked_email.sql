create or replace function identity.masked_email(email text)
returns text
language sql immutable parallel safe
return regexp_replace(masked_email.email, '^(.).*@', '\1...@');

comment on function identity.masked_email(text) is
  'An e-mail address as its owner recognises it and a stranger does not learn it: '
  'a...@example.com.';
