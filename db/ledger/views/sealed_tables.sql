create or replace view ledger.sealed_tables as
select s.table_name, s.id_column, s.sequence_name, s.time_column
from (
  values
    ('trading.trades', 'id', 'ledger.journal_ids', 'created_at'),
    ('ledger.posted_journals', 'id', 'ledger.journal_ids', 'created_at'),
    ('ledger.posted_entries', 'journal_id', 'ledger.journal_ids', null),
    ('ledger.cash_movements', 'journal_id', 'ledger.journal_ids', null),
    ('ledger.fee_payouts', 'journal_id', 'ledger.journal_ids', null),
    ('trading.set_conversions', 'id', 'trading.set_conversions_id_seq', 'created_at'),
    ('trading.final_orders', 'id', 'trading.order_ids', 'ended_at'),
    ('trading.order_reductions', 'order_id', 'trading.order_ids', 'at'),
    ('trading.order_replacements', 'order_id', 'trading.order_ids', null),
    ('trading.resolutions', 'id', 'trading.resolutions_id_seq', 'created_at'),
    ('trading.settlements', 'resolution_id', 'trading.resolutions_id_seq', null),
    ('trading.voids', 'id', 'trading.voids_id_seq', 'created_at'),
    ('trading.voided_positions', 'void_id', 'trading.voids_id_seq', null),
    ('trading.fee_schedules', 'id', 'trading.fee_schedules_id_seq', 'created_at'),
    ('trading.fee_cancellations', 'id', 'trading.fee_cancellations_id_seq', 'created_at'),
    ('risk.limit_changes', 'id', 'risk.limit_changes_id_seq', 'created_at'),
    ('admin.audit_log', 'id', 'admin.audit_log_id_seq', 'at'),
    ('ledger.closed_days', 'id', 'ledger.closed_days_id_seq', 'closed_at'),
    ('ledger.closed_figures', 'closed_day_id', 'ledger.closed_days_id_seq', null),
    ('ledger.balance_proofs', 'id', 'ledger.balance_proofs_id_seq', 'published_at'),
    ('ledger.verifications', 'id', 'ledger.verifications_id_seq', 'finished_at')
) as s (table_name, id_column, sequence_name, time_column);

comment on view ledger.sealed_tables is
  'The history that ledger.seal() seals. Rows of these tables are only added, and are final: those '
  'about an order once the order is.';
comment on column ledger.sealed_tables.table_name is
  'The table, or the view that shows a row in one form wherever it is stored.';
comment on column ledger.sealed_tables.id_column is
  'Its ids; several rows may have one.';
comment on column ledger.sealed_tables.sequence_name is
  'Where these ids come from. The transaction that takes an id from it writes all rows of that id, '
  'but for reductions of an order.';
comment on column ledger.sealed_tables.time_column is
  'When a row was written; null: the row of its id in another table says it.';
