create or replace function identity.accept_new_key(made identity.api_keys)
returns void
language plpgsql
as $$
begin
  perform identity.check_key_counts((made).user_id);
  perform identity.notify_user('new_key', (made).user_id, identity.key_details(made));
end
$$;

comment on function identity.accept_new_key(identity.api_keys) is
  'Ends a transaction in which a user made an API key: it is one too many, or a mail reports it. '
  'The caller has locked the user (identity.lock_key_maker). Errors: INVALID_STATE.';
