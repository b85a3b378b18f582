create or replace view admin.unusual_losses as
with days as (
  select
    a.user_id, o.day,
    (o.external_cents - o.balance_cents) as put_in_before,
    lead(o.external_cents - o.balance_cents, 1, a.external_cents - a.balance_cents)
      over (partition by a.user_id order by o.day) as put_in_after
  from (
    select t.user_id, t.external_cents, t.balance_cents
    from trading.traders as t
    where t.user_id in (
      select v.user_id
      from admin.recent_trades as r
      cross join lateral (values (r.taker_user_key), (r.maker_user_key)) as v (user_id)
    )
  ) as a
  join ledger.day_openings as o
    on o.user_id = a.user_id
    and o.day >= (analytics.now() at time zone 'UTC')::date - 36
),
spent as (
  select d.user_id, d.day, d.put_in_after - d.put_in_before as cents
  from days as d
  where d.put_in_after > d.put_in_before
),
compared as (
  select
    s.*,
    avg(s.cents) over before as usual_cents,
    count(*) over before as usual_days
  from spent as s
  window before as (
    partition by s.user_id order by s.day
    range between interval '30 days' preceding and interval '1 day' preceding
  )
)
select
  c.user_id as user_key,
  u.public_id as user_id,
  u.handle,
  c.day,
  c.cents as net_spent_cents,
  round(c.usual_cents)::bigint as usual_cents,
  c.usual_days
from compared as c
join identity.users as u on u.id = c.user_id
where c.day >= (analytics.now() at time zone 'UTC')::date - 6
  and c.cents >= 10000
  and c.cents >= 3 * c.usual_cents;

comment on view admin.unusual_losses is
  'Days (UTC) of the last 7 on which a user who traded in the last 7 days put 100 EUR or more net '
  'into trading, and at least 3 times as much as on the average of the days with a net spending in '
  'the 30 days before. A user without such a day before is not here.';
comment on column admin.unusual_losses.user_key is 'The user: internal key, for joins.';
comment on column admin.unusual_losses.user_id is 'The user: public id.';
comment on column admin.unusual_losses.handle is 'The user''s handle.';
comment on column admin.unusual_losses.day is 'The day (UTC).';
comment on column admin.unusual_losses.net_spent_cents is
  'Cash put into trading on that day less what came out, as loss limits count it.';
comment on column admin.unusual_losses.usual_cents is 'The average that it is compared with.';
comment on column admin.unusual_losses.usual_days is 'Of how many days.';
