--! Previous: sha1:8fec7aa7bb38ae635335d2be5f95269dfd0421e2
--! Hash: sha1:41b120f3b38857830bd56af587382dfaae93521d
--! Message: Check the rows of before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table trading.traders validate constraint traders_limits_that_wait_say_until_when;
alter table identity.mails validate constraint mails_are_of_a_known_kind;
alter table catalog.markets validate constraint markets_pay_what_the_outcome_says;
alter table trading.resolutions validate constraint resolutions_pay_what_the_outcome_says;
alter table identity.users validate constraint users_email_looks_like_one;
alter table identity.users validate constraint users_handle_is_a_word;
alter table identity.email_claims validate constraint email_claims_look_like_an_email;
alter table identity.email_claims validate constraint email_claims_handle_is_a_word;
reset role;
