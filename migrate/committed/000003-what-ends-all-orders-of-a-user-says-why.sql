--! Previous: sha1:31eb1bd9a63289f78bdfcae614e8aa06de8be844
--! Hash: sha1:9f7e9c1334d1199cc894e5d0cd849cd78c54e0a1
--! Message: What ends all orders of a user says why

-- What ends all orders of a user fires the user's dead man's switch, and says why.
set local lock_timeout = '500ms';
set local role exchange_owner;
alter table trading.dead_man_switches
  add column stop_reason trading.cancel_reason
    constraint dead_man_switches_with_a_stop_reason_have_fired
    check (stop_reason is null or fired_at is not null);
reset role;
