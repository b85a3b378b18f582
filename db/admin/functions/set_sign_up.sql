create or replace function admin.set_sign_up(policy text, play_money_cents bigint default 0)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('set_sign_up');
  if set_sign_up.play_money_cents > 0 then
    perform admin.check_role('give_bonus');
    perform admin.check_call_cap('bonus', set_sign_up.play_money_cents);
  end if;
  update identity.settings as s set
    sign_up_policy = set_sign_up.policy,
    play_money_cents = set_sign_up.play_money_cents,
    changed_at = core.now();
  perform admin.audit('set_sign_up', jsonb_build_object(
    'policy', set_sign_up.policy,
    'play_money_cents', set_sign_up.play_money_cents
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_sign_up(text, bigint) is
  'Sets who may sign up on the website: open, invitation or closed, which it is until this is '
  'called. play_money_cents is what a new account gets; leave it 0 where money is real: a call '
  'without it sets 0. Above 0 it is a bonus of each who signs up: it also needs the role of '
  'admin.give_bonus, of who proposes and of who approves it too, and is at most the cap of one '
  'call that gives a bonus. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, INVALID_STATE, '
  'ROLE_REQUIRED, UNFIT_SESSION. Locks: admin.rules in mode row share, the row of '
  'identity.settings.';
