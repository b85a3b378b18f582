create or replace function api.close_stream(
  lease_id uuid, address text, user_id uuid default null, slots int default 1
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_held record;
begin
  -- The locks of an opening, in its order: of two closings at once each must see the other's count.
  perform pg_advisory_xact_lock(hashtextextended('address ' || close_stream.address, 29038));
  if close_stream.user_id is not null then
    perform pg_advisory_xact_lock(hashtextextended('user ' || close_stream.user_id::text, 29038));
  end if;
  for v_held in
    select h.holder, h.subject
    from (
      values (1, 'address', close_stream.address), (2, 'user', close_stream.user_id::text)
    ) as h (place, holder, subject)
    where h.subject is not null
    order by h.place
  loop
    delete from rate_limits.open_streams as s
    where s.holder = v_held.holder
      and s.subject = v_held.subject
      and s.lease_id = close_stream.lease_id
      and s.stream_count <= close_stream.slots;
    if not found then
      update rate_limits.open_streams as s set stream_count = s.stream_count - close_stream.slots
      where s.holder = v_held.holder
        and s.subject = v_held.subject
        and s.lease_id = close_stream.lease_id
        and s.stream_count > close_stream.slots;
    end if;
  end loop;
end
$$;

comment on function api.close_stream(uuid, text, uuid, int) is
  'Stops counting a stream that api.open_stream has counted, with its slots. Locks: advisory '
  'locks of the address and of the user; their counters.';
