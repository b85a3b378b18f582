create or replace function identity.authenticate_session_token(token_hash bytea)
returns table (user_id uuid, session_id uuid)
language sql stable
begin atomic
  select u.public_id, s.public_id
  from identity.session_tokens as t
  join identity.sessions as s on s.id = t.session_id
  join identity.users as u on u.id = s.user_id
  where t.token_hash = authenticate_session_token.token_hash
    and t.expires_at > core.now();
end;

comment on function identity.authenticate_session_token(bytea) is
  'The user and the session of the token with this SHA-256: one row, or none if it is unknown or '
  'expired, or its session ended.';
