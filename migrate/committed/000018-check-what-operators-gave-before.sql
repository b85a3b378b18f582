--! Previous: sha1:98101b0f3979b228e7b167f349dd1f459ce7fec5
--! Hash: sha1:916ae0802ed4bf67b10b08e78e7d84ed164f235d
--! Message: Check what operators gave before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table identity.users validate constraint users_avatar_url_is_short;
alter table identity.settings validate constraint settings_play_money_is_a_deposit;
reset role;
