create table trading.event_payloads (
  id bigint primary key,
  payload json not null,
  created_at timestamptz not null
);

create index event_payloads_by_age on trading.event_payloads (created_at);

comment on table trading.event_payloads is
  'Announcements too long for a notification, which then carries only the id.';
