create table trading.dead_man_switches (
  user_id bigint primary key,
  expires_at timestamptz,
  fired_at timestamptz,
  last_order_id bigint,
  last_fired_at timestamptz,
  constraint dead_man_switches_fire_when_they_have_expired check (
    fired_at is null or (expires_at is not null and expires_at <= fired_at)
  ),
  constraint dead_man_switches_that_fired_say_which_orders check (
    (fired_at is null) = (last_order_id is null)
  )
) with (fillfactor = 70);

create index dead_man_switches_by_expiry on trading.dead_man_switches (expires_at, user_id)
  where expires_at is not null;
create index dead_man_switches_by_firing on trading.dead_man_switches (last_fired_at)
  where last_fired_at is not null;

comment on table trading.dead_man_switches is
  'The dead man''s switches: a row for each user who ever set one. One that is not renewed before '
  'it expires fires, and the orders of its user are cancelled. The row is also the lock on the '
  'switch. No foreign key: see trading.active_orders.';
comment on column trading.dead_man_switches.expires_at is
  'When it fires unless it is renewed; null: it is off. It stays until a firing is over.';
comment on column trading.dead_man_switches.fired_at is
  'When a worker found it expired. From then on it cannot be renewed, whatever the clock says, '
  'until the orders are cancelled; null: it has not fired, or that is over.';
comment on column trading.dead_man_switches.last_order_id is
  'The last of the open orders that were placed by its expiry, 0 if there was none. Those up to '
  'this one are cancelled, and what replaced them.';
comment on column trading.dead_man_switches.last_fired_at is
  'The expiry at which it fired last; null: it never did.';
