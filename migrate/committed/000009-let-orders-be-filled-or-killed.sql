--! Previous: sha1:fb7fe40699a163ba5f6a0f11afced0c8aa4ebed0
--! Hash: sha1:117d987530b6e59c97e20c750eabae3f2fa6b328
--! Message: Let orders be filled or killed

set local lock_timeout = '2s';
set local role exchange_owner;
alter type trading.time_in_force add value 'fok' after 'ioc';
comment on type trading.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
reset role;
