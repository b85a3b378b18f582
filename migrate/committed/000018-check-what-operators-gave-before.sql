--! Previous: sha1:af3b88666c7107b2786bba7db74befecb0a4f1a6
--! Hash: sha1:4aa99e18cf2150a93f05ec5aafada2dd1eeed60c
--! Message: Check what operators gave before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table identity.users validate constraint users_avatar_url_is_short;
alter table identity.settings validate constraint settings_play_money_is_a_deposit;
reset role;
