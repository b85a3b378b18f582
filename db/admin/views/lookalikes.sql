create or replace view admin.lookalikes as
with people as (
  select
    u.id, u.public_id, u.handle, u.created_at, r.excluded_until,
    nullif(regexp_replace(lower(u.display_name), '[^[:alnum:]]', '', 'g'), '') as name,
    replace(split_part(split_part(lower(u.email), '@', 1), '+', 1), '.', '')
      || '@' || split_part(lower(u.email), '@', 2) as mailbox
  from identity.users as u
  join trading.traders as r on r.user_id = u.id
),
excluded as (
  select p.*
  from people as p
  where p.excluded_until > analytics.now()
),
fresh as (
  select p.*
  from people as p
  where p.created_at >= analytics.now() - interval '720 hours'
    and (p.excluded_until is null or p.excluded_until <= analytics.now())
),
pairs as (
  select n.id as new_id, e.id as excluded_id, 'name' as same
  from fresh as n
  join excluded as e on e.name = n.name
  union all
  select n.id, e.id, 'mailbox' as same
  from fresh as n
  join excluded as e on e.mailbox = n.mailbox
)
select
  n.id as user_key,
  n.public_id as user_id,
  n.handle,
  n.created_at,
  e.id as excluded_user_key,
  e.public_id as excluded_user_id,
  e.handle as excluded_handle,
  e.excluded_until,
  p.same
from (
  select x.new_id, x.excluded_id, string_agg(x.same, ', ' order by x.same) as same
  from pairs as x
  group by x.new_id, x.excluded_id
) as p
join fresh as n on n.id = p.new_id
join excluded as e on e.id = p.excluded_id;

comment on view admin.lookalikes is
  'Accounts of the last 30 days that look like a user whose self-exclusion is in force. Two things '
  'are compared, both in small letters: the display name by its letters and digits alone, and the '
  'e-mail address without dots and what follows a plus sign before the @. Nothing else is known of '
  'a person: payments have a reference and no holder.';
comment on column admin.lookalikes.user_key is 'The new account: internal key, for joins.';
comment on column admin.lookalikes.user_id is 'The new account: public id.';
comment on column admin.lookalikes.handle is 'Its handle.';
comment on column admin.lookalikes.created_at is 'When it was made.';
comment on column admin.lookalikes.excluded_user_key is
  'The excluded account: internal key, for joins.';
comment on column admin.lookalikes.excluded_user_id is 'The excluded account: public id.';
comment on column admin.lookalikes.excluded_handle is 'Its handle.';
comment on column admin.lookalikes.excluded_until is 'Until when; infinity is for good.';
comment on column admin.lookalikes.same is 'What is the same: name, mailbox, or both.';
