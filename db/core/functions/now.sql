create or replace function core.now()
returns timestamptz
language sql volatile parallel safe
return clock_timestamp();

comment on function core.now() is
  'The one clock of the exchange. Read once by each command, after its locks are held, so that '
  'times never run against the order of commits. Tests replace this function; nothing else can '
  'move it.';
