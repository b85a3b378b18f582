create schema limits authorization exchange_owner;
comment on schema limits is 'How many requests who may make, and how many they made. Private.';
