--! Previous: sha1:60d92aaed1763eb32bf9f765572e589ae9c4b163
--! Hash: sha1:34ff23064a26ec219cd30580e473f4a19c076cb6
--! Message: Check the avatar URLs of before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table identity.users validate constraint users_avatar_url_is_short;
reset role;
