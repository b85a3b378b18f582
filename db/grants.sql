-- The rights of the roles. A function that is not granted here can be called by its owner only.
-- They are granted anew, as a whole, each time that functions are put in place.
grant usage on schema installer to exchange_api, exchange_worker;
grant select on installer.installations to exchange_api, exchange_worker;

grant usage on schema api to exchange_api;
grant execute on all functions in schema api to exchange_api;

grant usage on schema jobs to exchange_worker;
grant execute on all functions in schema jobs to exchange_worker;

grant usage on schema admin to exchange_operator;
grant execute on all functions in schema admin to exchange_operator;
revoke execute on function
  admin.audit(text, jsonb), admin.audit_access(text, bigint, text),
  admin.audit_closings(jsonb, uuid), admin.check_role(text),
  admin.fire_due_switches(),
  admin.process_due_markets(), admin.rehearse(boolean),
  admin.rehearse_orders(uuid, uuid, jsonb[]), admin.check_approval(text, numeric),
  admin.report_to_user(text, bigint, json),
  admin.approver_role(text), admin.basis(text, jsonb), admin.carry_out(text, jsonb),
  admin.find_proposal(uuid), admin.lock_proposal(uuid), admin.verify_proposals(),
  admin.verify_personal_arguments(), admin.personal_part(text, jsonb),
  admin.plain_part(text, jsonb), admin.only_user_of(jsonb), admin.check_erasable(identity.users),
  admin.check_call_cap(ledger.journal_kind, numeric),
  admin.count_cash(ledger.journal_kind, numeric),
  admin.move_cash(text, uuid, ledger.journal_kind, bigint, text, text)
from exchange_operator;
grant select on
  admin.categories, admin.events, admin.markets, admin.users, admin.api_keys, admin.staff_keys,
  admin.staff, admin.staff_passkeys, admin.orders, admin.order_reductions, admin.trades,
  admin.positions, admin.set_conversions, admin.journals, admin.journal_entries,
  admin.cash_movements, admin.receivables, admin.fee_payouts, admin.resolutions,
  admin.settlements, admin.disputes,
  admin.voids, admin.voided_positions, admin.fee_schedules, admin.rate_limits, admin.stream_caps,
  admin.trading_pause, admin.sign_up, admin.minimum_age, admin.dispute_window,
  admin.unconfirmed_emails, admin.mails, admin.verifications, admin.audit_entries,
  admin.approval_rules, admin.proposals, admin.reconciliations, admin.closed_days,
  admin.closed_figures, admin.notes, admin.processes, admin.jobs, admin.health,
  admin.open_interest, admin.fee_revenue, admin.blocks, admin.cash_caps, admin.recent_trades,
  admin.trading_pairs, admin.round_trips, admin.large_trades, admin.late_trades,
  admin.limit_usage, admin.unusual_losses, admin.lookalikes
to exchange_operator;

grant usage on schema ledger to exchange_operator;
grant execute on function
  ledger.verify(boolean), ledger.unsealed_rows(), ledger.compare_head(bigint, text),
  ledger.export_blocks(bigint, bigint)
to exchange_operator;
grant usage on schema leaderboard to exchange_operator;
grant execute on function leaderboard.verify() to exchange_operator;

grant usage on schema analytics to exchange_analyst;
grant select on all tables in schema analytics to exchange_analyst;
grant execute on all functions in schema analytics to exchange_analyst;
-- The views of schema admin call these; operators have no right to their schemas.
grant execute on function
  analytics.now(), rate_limits.standard_policy(), core.uuid_v7_at(timestamptz)
to exchange_operator;
