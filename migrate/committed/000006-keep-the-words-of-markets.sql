--! Previous: sha1:9a00f96c62b83861d831b12eb100cb361e5bbb10
--! Hash: sha1:2c18b19f9a9a20ca58f20ac33d52fcbe37c3171e
--! Message: Keep the words of markets

set local lock_timeout = '2s';
set local role exchange_owner;
alter table catalog.markets add column words tsvector;
reset role;
