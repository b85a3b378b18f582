create or replace function admin.answer_dispute(dispute_id uuid, answer text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dispute record;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('answer_dispute');
  select d.id, d.user_id, u.public_id as user_public_id, m.title into v_dispute
  from trading.disputes as d
  join trading.resolutions as r on r.id = d.resolution_id
  join catalog.markets as m on m.id = r.market_id
  join identity.users as u on u.id = d.user_id
  where d.public_id = answer_dispute.dispute_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no dispute %s', coalesce(answer_dispute.dispute_id::text, 'null')
    ));
  end if;
  perform identity.lock_account_to_change(v_dispute.user_id);
  update trading.disputes as d set
    answer = answer_dispute.answer,
    answered_at = core.now()
  where d.id = v_dispute.id
    and d.answered_at is null;
  if not found then
    perform core.raise_error('INVALID_STATE', 'The dispute has been answered');
  end if;
  perform identity.notify_user(
    'dispute_answered', v_dispute.user_id, json_build_object('title', v_dispute.title)
  );
  perform admin.audit('answer_dispute', jsonb_build_object(
    'dispute_id', answer_dispute.dispute_id,
    'user_id', v_dispute.user_public_id,
    'answer', answer_dispute.answer
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.answer_dispute(uuid, text) is
  'Answers a dispute, once, in at most 2,000 characters that its user reads, and is told of by '
  'mail. It moves no cash: a resolution is changed by admin.correct_resolution. admin.disputes has '
  'the disputes. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE (answered, or the user was '
  'erased), UNFIT_SESSION. Locks: the account, the dispute.';
