create or replace function core.is_blank(text text)
returns boolean
language sql immutable parallel safe
return text !~ (
  '[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f'
  || '\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0'
  || '\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
);

comment on function core.is_blank(text) is
  'Whether nobody would see anything of a text: white space, control characters, and those of '
  'Unicode without width or ink. By their numbers, so that it does not depend on a locale. Null of '
  'null.';
