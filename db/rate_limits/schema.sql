create schema rate_limits authorization exchange_owner;
comment on schema rate_limits is
  'The limits of requests and event streams, and their counters. Private.';
