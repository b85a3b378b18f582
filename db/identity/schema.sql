create schema identity authorization exchange_owner;
comment on schema identity is 'Who trades: users and their API keys. Private.';
