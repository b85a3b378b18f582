create or replace function identity.is_handle(handle text)
returns boolean
language sql immutable parallel safe
return handle ~ '^[A-Za-z0-9_.-]{1,40}$';

comment on function identity.is_handle(text) is
  'Whether a text may be a handle: from 1 to 40 letters, digits, dots, hyphens and underscores. '
  'Null for null.';
