create or replace function jobs.warm_up()
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select admin.rehearse(true)
$$;

comment on function jobs.warm_up() is
  'Compiles and plans in a new connection what releases need, so that its first one is not slower '
  'than later ones. Changes nothing. Errors: UNFIT_SESSION.';
