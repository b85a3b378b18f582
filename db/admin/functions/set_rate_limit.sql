create or replace function admin.set_rate_limit(bucket text, max_requests int, window_seconds int)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_rate_limit');
  update rate_limits.buckets as b
  set max_requests = set_rate_limit.max_requests, window_seconds = set_rate_limit.window_seconds
  where b.bucket = set_rate_limit.bucket;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no bucket %s', set_rate_limit.bucket));
  end if;
  perform admin.audit('set_rate_limit', jsonb_build_object(
    'bucket', set_rate_limit.bucket,
    'max_requests', set_rate_limit.max_requests,
    'window_seconds', set_rate_limit.window_seconds
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_rate_limit(text, int, int) is
  'Sets how many requests a rolling window of this bucket has room for, and its length, from the '
  'next request on. A longer window counts the earlier requests that are still kept. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the row of the bucket.';
