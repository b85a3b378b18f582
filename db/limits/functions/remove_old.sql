create or replace function limits.remove_old(most int default 1000)
returns int
language plpgsql volatile
set search_path = ''
as $$
declare
  v_at timestamptz := core.now();
  v_windows int;
  v_allowances int;
begin
  -- Who is being counted at this moment is not kept waiting, nor waited for.
  with removed as (
    delete from limits.windows as w
    where (w.bucket, w.subject) in (
      select x.bucket, x.subject
      from limits.windows as x
      where x.removable_at <= v_at
      order by x.removable_at
      limit remove_old.most
      for update skip locked
    )
    returning w.bucket, w.subject
  ),
  emptied as (
    delete from limits.grants as g
    using removed as r
    where g.bucket = r.bucket and g.subject = r.subject
  )
  select count(*) into v_windows from removed;

  delete from limits.allowances as a
  where a.user_id in (
    select x.user_id
    from limits.allowances as x
    where x.removable_at <= v_at
    order by x.removable_at
    limit remove_old.most
    for update skip locked
  );
  get diagnostics v_allowances = row_count;
  return v_windows + v_allowances;
end
$$;

comment on function limits.remove_old(int) is
  'Removes counters that count nothing any more: windows that every grant has left, with what is '
  'kept of those, and token buckets that are full. At most so many of each; returns how many. '
  'Locks: the counters, none that it would wait for.';
