create or replace function core.now()
returns timestamptz
language sql volatile parallel safe
return clock_timestamp();

comment on function core.now() is
  'The one clock of the exchange. A command takes its time from it after it has the lock of its '
  'market, so that times never run against the order of its commits. Tests replace this function, '
  'and so does the embedded demo in the transaction that makes its history; nothing else can move '
  'it.';
