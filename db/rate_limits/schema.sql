create schema rate_limits authorization exchange_owner;
comment on schema rate_limits is 'How many requests who may make, and how many they made. Private.';
