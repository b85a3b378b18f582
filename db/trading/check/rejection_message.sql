create or replace function trading.rejection_message(code text, problem text)
returns text
language sql immutable parallel safe
return case when code = 'INVALID_REQUEST'
  then coalesce(problem, 'expiresAt: must be in the future')
end;

comment on function trading.rejection_message(text, text) is
  'What a rejection says beyond its code; null when the code''s own message says it all.';
