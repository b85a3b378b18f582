create or replace view admin.dispute_window as
select s.dispute_window_hours as hours
from core.settings as s;

comment on view admin.dispute_window is
  'How long resolutions may be disputed, as admin.set_dispute_window sets it: one row.';
comment on column admin.dispute_window.hours is
  'Hours after a resolution or a correction; 0: they cannot be disputed.';
