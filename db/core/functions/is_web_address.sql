create or replace function core.is_web_address(address text)
returns boolean
language sql immutable parallel safe
return length(address) <= 2000 and address ~* '^https?://[^[:space:][:cntrl:]"<>`\\]+$';

comment on function core.is_web_address(text) is
  'Whether a page may show this as a link or load a picture from it: http or https, at most 2,000 '
  'characters, without spaces, control characters, quotes and angle brackets. Null of null.';
