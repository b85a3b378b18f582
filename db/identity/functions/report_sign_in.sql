create or replace function identity.report_sign_in(
  user_id bigint, browser text, is_known boolean, ended_cookie_hash bytea
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select identity.notify_user(
    'new_sign_in', report_sign_in.user_id,
    json_build_object('browser', left(report_sign_in.browser, 300))
  )
  where report_sign_in.is_known is not true
    and not exists (
      select
      from identity.sessions as s
      where s.user_id = report_sign_in.user_id
        and s.cookie_hash = report_sign_in.ended_cookie_hash
    )
$$;

comment on function identity.report_sign_in(bigint, text, boolean, bytea) is
  'Writes a mail about a sign-in, unless the browser is one in which the user signed in before: it '
  'has the mark of api.get_browser_mark, or a session of the user, which ends. What it calls '
  'itself can be copied.';
