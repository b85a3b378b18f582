create schema catalog authorization exchange_owner;
comment on schema catalog is 'What can be traded: categories, events, markets. Private.';
