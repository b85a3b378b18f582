create schema identity authorization exchange_owner;
comment on schema identity is 'Users, their API keys and sessions, and the keys of staff. Private.';
