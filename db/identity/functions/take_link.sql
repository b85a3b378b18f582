create or replace function identity.take_link(kind text, token_hash bytea)
returns identity.links
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link identity.links;
begin
  perform core.check_session();
  delete from identity.links as l -- mutant: link_used_twice
  where l.token_hash = take_link.token_hash
    and l.kind = take_link.kind -- mutant: link_of_another_kind
    and l.expires_at > core.now()
  returning l.* into v_link;
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  -- A mail that was sent twice has two tokens.
  delete from identity.links as l
  where l.kind = take_link.kind
    and l.user_id = v_link.user_id; -- mutant: other_links_stay
  return v_link;
end
$$;

comment on function identity.take_link(text, bytea) is
  'Uses up the link with this SHA-256, and the others of its user and kind. Errors: INVALID_LINK '
  '(unknown, expired or used), UNFIT_SESSION. Locks: the rows of the links.';
