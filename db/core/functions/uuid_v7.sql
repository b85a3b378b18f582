-- PostgreSQL 18 has the function built in; before that it is put together here.
do $$
begin
  if current_setting('server_version_num')::int >= 180000 then
    execute 'create or replace function core.uuid_v7() returns uuid '
      'language sql volatile parallel safe return pg_catalog.uuidv7()';
  else
    execute $function$
      create or replace function core.uuid_v7() returns uuid
      language sql volatile parallel safe
      return encode(
        set_bit(
          set_bit(
            overlay(
              uuid_send(gen_random_uuid())
              placing substring(
                int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3
              )
              from 1 for 6
            ),
            52, 1
          ),
          53, 1
        ),
        'hex'
      )::uuid
    $function$;
  end if;
end
$$;

comment on function core.uuid_v7() is
  'A new public identifier: UUID version 7, ordered by the millisecond it was made in.';
