--! Previous: sha1:97419025f4ae36e6a9d02e1d0a056d7d0c7678c0
--! Hash: sha1:3cb642f35b8cb42ac1a078dbb53b6a3696302040
--! Message: A key is replaced once

set local lock_timeout = '2s';
set local role exchange_owner;
alter table identity.api_keys
  add constraint api_keys_are_replaced_once unique using index api_keys_are_replaced_once;
reset role;
