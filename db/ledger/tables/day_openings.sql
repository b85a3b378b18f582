create table ledger.day_openings (
  user_id bigint not null,
  day date not null,
  balance_cents bigint not null,
  external_cents bigint not null,
  primary key (user_id, day)
);

create trigger day_openings_are_append_only
  before update or delete or truncate on ledger.day_openings
  for each statement execute function ledger.refuse_change();

comment on table ledger.day_openings is
  'A user''s cash at the start of each UTC day on which it moved, written with the day''s first '
  'movement. The net cash put into trading since a day is the difference of '
  '(external_cents - balance_cents) between now and the first opening from that day on. No foreign '
  'key: see ledger.posted_entries; a settlement writes one row for each of its users.';
