--! Previous: sha1:4625c62919a6109a1332b2f4ba533078dc0d77d0
--! Hash: sha1:bdc33c83ffdfcc926a3c43c549e6e757f9d0877e
--! Message: The kinds of mails are checked

-- No mail is of an unknown kind.
set local lock_timeout = '500ms';
set local role exchange_owner;
alter table identity.mails validate constraint mails_are_of_a_known_kind;
reset role;
