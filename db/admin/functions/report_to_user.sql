create or replace function admin.report_to_user(kind text, user_id bigint, details json)
returns void
language plpgsql volatile
as $$
declare
  v_acting record;
begin
  select a.* into v_acting from identity.acting() as a;
  if v_acting.staff_id is not null then
    perform identity.notify_user(
      report_to_user.kind, report_to_user.user_id, report_to_user.details
    );
  end if;
end
$$;

comment on function admin.report_to_user(text, bigint, json) is
  'Tells a user by mail what a member of staff did with the account. What an operator''s program '
  'does is not told: it may carry out what the user asked for. Private to the schema. Errors: '
  'UNAUTHORIZED.';
