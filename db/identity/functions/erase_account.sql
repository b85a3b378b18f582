create or replace function identity.erase_account(user_id bigint, emails text[])
returns void
language plpgsql volatile
as $$
declare
  v_random constant text := replace(gen_random_uuid()::text, '-', '');
begin
  delete from identity.mails as m
  where m.user_id = erase_account.user_id
    or m.user_id is null
      and m.kind <> 'staff_invitation'
      and lower(m.address collate "C") = any (erase_account.emails);
  delete from identity.links as l
  where l.user_id = erase_account.user_id
    or l.kind = 'invitation'
      and lower(l.email collate "C") = any (erase_account.emails);
  delete from identity.email_claims as c
  where c.user_id = erase_account.user_id;
  delete from identity.passwords as p
  where p.user_id = erase_account.user_id;
  perform identity.end_ways_in(erase_account.user_id);
  update identity.api_keys as k set
    name = 'erased',
    allowed_addresses = null,
    last_used_address = null
  where k.user_id = erase_account.user_id;
  -- The handle cannot be known before, so nobody has taken it.
  update identity.users as u set
    email = identity.unconfirmed_email(u.public_id),
    display_name = 'Erased user',
    handle = 'erased-' || left(v_random, 16),
    avatar_url = null,
    private = true,
    leaderboard_opt_out = true,
    erased_at = core.now()
  where u.id = erase_account.user_id;
  insert into leaderboard.profile_changes (user_id)
  values (erase_account.user_id);
end
$$;

comment on function identity.erase_account(bigint, text[]) is
  'Takes away all that says who a user is, and all ways in; also the mails and invitations to '
  'these addresses, in lower case, that name no account. The caller has locked the account and the '
  'user. Locks: the rows of mails, links, claim, password, passkeys, sessions and keys.';
