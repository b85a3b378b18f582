create or replace view admin.minimum_age as
select s.minimum_age as years
from core.settings as s;

comment on view admin.minimum_age is
  'The age that users confirm, as admin.set_minimum_age sets it: one row.';
comment on column admin.minimum_age.years is 'In years; 0: users are not asked.';
