create or replace function admin.set_stream_cap(holder text, max_streams int)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_stream_cap');
  update rate_limits.stream_caps as c set max_streams = set_stream_cap.max_streams
  where c.holder = set_stream_cap.holder;
  if not found then
    perform core.raise_error('NOT_FOUND', 'The holder must be address or user');
  end if;
  perform admin.audit('set_stream_cap', jsonb_build_object(
    'holder', set_stream_cap.holder, 'max_streams', set_stream_cap.max_streams
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_stream_cap(text, int) is
  'Sets how many event streams an address, or a user, may hold open at once, from the next opening '
  'on, on every server. Streams that are open stay. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the '
  'row of the holder.';
