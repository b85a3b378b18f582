create or replace function identity.report_sign_in(user_id bigint, browser text)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select identity.notify_user(
    'new_sign_in', report_sign_in.user_id,
    json_build_object('browser', left(report_sign_in.browser, 300))
  )
  where not exists (
    select
    from identity.sessions as s
    where s.user_id = report_sign_in.user_id
      and s.browser = left(report_sign_in.browser, 300)
  )
$$;

comment on function identity.report_sign_in(bigint, text) is
  'Writes a mail about a sign-in, unless a session of this browser is there.';
