create or replace view admin.trading_pairs as
with pairs as (
  select
    t.first_user_key, t.second_user_key, count(*) as trade_count, sum(t.quantity) as quantity,
    sum(t.cents) as cents, max(t.created_at) as last_at
  from admin.recent_trades as t
  group by t.first_user_key, t.second_user_key
),
volumes as (
  select v.user_key, sum(v.quantity) as quantity
  -- Of a list of two values for each pair, the planner would expect two users in all.
  from (
    select p.first_user_key as user_key, p.quantity from pairs as p
    union all
    select p.second_user_key, p.quantity from pairs as p
  ) as v
  group by v.user_key
),
shares as (
  select
    p.*, a.quantity as first_quantity, b.quantity as second_quantity,
    -- Of the partners of the larger one, the smaller one would have its share of the volume.
    a.quantity * b.quantity
      / ((select sum(v.quantity) from volumes as v) - greatest(a.quantity, b.quantity)) as by_chance
  from pairs as p
  join volumes as a on a.user_key = p.first_user_key
  join volumes as b on b.user_key = p.second_user_key
)
select
  s.first_user_key,
  u.public_id as first_user_id,
  u.handle as first_handle,
  s.second_user_key,
  w.public_id as second_user_id,
  w.handle as second_handle,
  s.trade_count,
  s.quantity::bigint as quantity,
  s.cents::bigint as value_cents,
  floor(100 * s.quantity / s.first_quantity)::bigint as first_percent,
  floor(100 * s.quantity / s.second_quantity)::bigint as second_percent,
  round(s.quantity / s.by_chance, 1) as times_chance,
  s.last_at
from shares as s
join identity.users as u on u.id = s.first_user_key
join identity.users as w on w.id = s.second_user_key
where s.trade_count >= 5
  and s.quantity >= 3 * s.by_chance;

comment on view admin.trading_pairs is
  'Pairs of users that traded with each other at least 5 times in the last 7 days, and at least 3 '
  'times the shares that they would by chance: the volume of both multiplied, divided by that of '
  'all users but the larger of the two.';
comment on column admin.trading_pairs.first_user_key is
  'The one with the lower key: internal key, for joins.';
comment on column admin.trading_pairs.first_user_id is 'Its public id.';
comment on column admin.trading_pairs.first_handle is 'Its handle.';
comment on column admin.trading_pairs.second_user_key is 'The other one: internal key, for joins.';
comment on column admin.trading_pairs.second_user_id is 'Its public id.';
comment on column admin.trading_pairs.second_handle is 'Its handle.';
comment on column admin.trading_pairs.trade_count is 'Trades with each other.';
comment on column admin.trading_pairs.quantity is 'Shares, or pairs of shares, of these.';
comment on column admin.trading_pairs.value_cents is 'What the takers of these paid or got.';
comment on column admin.trading_pairs.first_percent is
  'How much of the volume of the first one that is, in percent of its shares.';
comment on column admin.trading_pairs.second_percent is 'Likewise of the second one.';
comment on column admin.trading_pairs.times_chance is 'How many times the shares by chance.';
comment on column admin.trading_pairs.last_at is 'When they last traded with each other.';
