create or replace function core.now()
returns timestamptz
language sql volatile parallel safe
return clock_timestamp();

comment on function core.now() is
  'The one clock of the exchange. Read once by each command, after it has the lock of its market, '
  'so that times never run against the order of its commits. Tests replace this function; nothing '
  'else can move it.';
