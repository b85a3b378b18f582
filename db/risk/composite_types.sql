create type risk.loss_limits as (
  day_cents bigint,
  week_cents bigint,
  month_cents bigint
);
comment on type risk.loss_limits is 'The limits in force; null is no limit.';
