--! Previous: sha1:cc2b2994aae804c5c83fe78bf90aa11b72e1fb31
--! Hash: sha1:ff0400ba162e851959b771e0a5e51f2e0bf49429
--! Message: Check the limits and mails of before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table trading.traders validate constraint traders_limits_that_wait_say_until_when;
alter table identity.mails validate constraint mails_are_of_a_known_kind;
reset role;
