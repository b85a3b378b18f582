create or replace view admin.disputes as
select
  d.id as dispute_key,
  d.public_id as dispute_id,
  d.created_at,
  r.market_id as market_key,
  m.public_id as market_id,
  d.resolution_id as resolution_key,
  r.outcome::text as outcome,
  d.user_id as user_key,
  u.public_id as user_id,
  d.text,
  d.answered_at is null as is_open,
  d.answered_at,
  d.answer
from trading.disputes as d
left join trading.resolutions as r on r.id = d.resolution_id
left join catalog.markets as m on m.id = r.market_id
left join identity.users as u on u.id = d.user_id;

comment on view admin.disputes is
  'What traders say against resolutions, and what staff answered with admin.answer_dispute.';
comment on column admin.disputes.dispute_key is 'Internal key, ascending in time.';
comment on column admin.disputes.dispute_id is 'Public id.';
comment on column admin.disputes.created_at is 'When it was made.';
comment on column admin.disputes.market_key is 'The market: internal key, for joins.';
comment on column admin.disputes.market_id is 'The market: public id.';
comment on column admin.disputes.resolution_key is 'The resolution that it is about.';
comment on column admin.disputes.outcome is 'What that resolution says: yes, no or custom.';
comment on column admin.disputes.user_key is 'Who made it: internal key, for joins.';
comment on column admin.disputes.user_id is 'Who made it: public id.';
comment on column admin.disputes.text is 'What the user wrote.';
comment on column admin.disputes.is_open is 'Whether it waits for an answer.';
comment on column admin.disputes.answered_at is 'When it was answered; null: not yet.';
comment on column admin.disputes.answer is 'What the user reads; null: nothing yet.';
