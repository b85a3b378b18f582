create table risk.limit_changes (
  id bigint generated always as identity primary key,
  user_id bigint not null,
  day_limit_cents bigint,
  week_limit_cents bigint,
  month_limit_cents bigint,
  next_day_limit_cents bigint,
  next_week_limit_cents bigint,
  next_month_limit_cents bigint,
  day_limit_changes_at timestamptz,
  week_limit_changes_at timestamptz,
  month_limit_changes_at timestamptz,
  created_at timestamptz not null
);

create index limit_changes_of_a_user on risk.limit_changes (user_id, id);

create trigger limit_changes_are_append_only
  before update or delete or truncate on risk.limit_changes
  for each statement execute function ledger.refuse_change();

comment on table risk.limit_changes is
  'The loss limits of a trader after each call that set them: the columns of trading.traders. '
  'Append-only. No foreign key: see trading.active_orders.';
