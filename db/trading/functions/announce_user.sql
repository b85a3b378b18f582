create or replace function trading.announce_user(user_public_id uuid, event json)
returns void
language sql volatile
set search_path = ''
as $$
  insert into trading.announcements (channel, payload)
  values ('user_event', json_build_object(
    'userId', announce_user.user_public_id, 'event', announce_user.event
  ))
$$;

comment on function trading.announce_user(uuid, json) is
  'Announces to a user what happened to them: an event of the user stream.';
