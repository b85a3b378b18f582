create or replace function identity.take_link(kind text, token_hash bytea)
returns identity.links
language plpgsql volatile
as $$
declare
  v_link identity.links;
  v_invited text;
begin
  perform core.check_session();
  -- The account is locked before its links; those of an address in one order.
  perform identity.lock_account(l.user_id)
  from identity.links as l
  where l.token_hash = take_link.token_hash
    and l.user_id is not null;
  if take_link.kind = 'invitation' then
    select lower(l.email collate "C") into v_invited
    from identity.links as l
    where l.token_hash = take_link.token_hash
      and l.kind = 'invitation';
    -- Before the links: a worker that makes one holds its mail.
    delete from identity.mails as m
    where m.kind = 'invitation'
      and m.due_at is not null
      and lower(m.address collate "C") = v_invited;
    perform
    from identity.links as l
    where l.kind = 'invitation'
      and lower(l.email collate "C") = v_invited
    order by l.token_hash
    for update;
  end if;
  delete from identity.links as l
  where l.token_hash = take_link.token_hash
    and l.kind = take_link.kind
    and l.expires_at > core.now()
  returning l.* into v_link;
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  -- A mail that was sent twice has two tokens, and an operator has one more.
  delete from identity.links as l
  where l.kind = take_link.kind
    and l.user_id = v_link.user_id;
  delete from identity.links as l
  where l.kind = 'invitation'
    and lower(l.email collate "C") = v_invited;
  return v_link;
end
$$;

comment on function identity.take_link(text, bytea) is
  'Uses up the link with this SHA-256, and the others of its user and kind; of an invitation all '
  'others to its address, and those that are to be mailed. Errors: INVALID_LINK (unknown, expired '
  'or used), UNFIT_SESSION. Locks: the account, the mails, the rows of the links.';
