create schema identity authorization exchange_owner;
comment on schema identity is 'Who trades: users, their API keys and sessions. Private.';
