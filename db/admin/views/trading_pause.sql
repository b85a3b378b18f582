create or replace view admin.trading_pause as
select
  s.trading_paused as is_paused,
  case when s.trading_paused then s.trading_pause_reason end as reason,
  s.trading_paused_at as paused_at
from core.settings as s;

comment on view admin.trading_pause is
  'Whether trading is paused on the whole site, as admin.set_trading_pause sets it: one row.';
comment on column admin.trading_pause.is_paused is 'Whether trading is paused.';
comment on column admin.trading_pause.reason is
  'Why it is paused; null if it is not, or if no reason was given.';
comment on column admin.trading_pause.paused_at is 'Since when; null if it is not paused.';
