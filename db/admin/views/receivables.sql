create or replace view admin.receivables as
select
  t.user_id as user_key,
  t.public_id as user_id,
  t.overdraft_cents::bigint as amount_cents,
  j.created_at as since,
  j.kind::text as kind,
  m.public_id as market_id,
  c.reference,
  coalesce(c.reason, r.reason, v.reason) as reason
from trading.traders as t
left join lateral (
  select e.journal_id
  from ledger.posted_entries as e
  where e.account_id = t.user_id * 4
    and e.balance_before_cents >= 0
    and e.balance_after_cents < 0
  order by e.account_version desc
  limit 1
) as e on true
left join ledger.posted_journals as j on j.id = e.journal_id
left join catalog.markets as m on m.id = j.market_id
left join ledger.cash_movements as c on c.journal_id = j.id
left join trading.resolutions as r on r.journal_id = j.id
left join trading.voids as v on v.journal_id = j.id
where t.overdraft_cents > 0;

comment on view admin.receivables is
  'What users owe the exchange: those whose cash is below zero, and the journal that took it '
  'there. Journals after it may have made it more or less.';
comment on column admin.receivables.user_key is 'The user: internal key, for joins.';
comment on column admin.receivables.user_id is 'The user: public id.';
comment on column admin.receivables.amount_cents is 'How far the cash is below zero.';
comment on column admin.receivables.since is 'When it last went below zero.';
comment on column admin.receivables.kind is
  'By what: the correction of a resolution, a void, or the reversal of a deposit.';
comment on column admin.receivables.market_id is
  'The market of the correction or void: public id; else null.';
comment on column admin.receivables.reference is 'The reference of the deposit; else null.';
comment on column admin.receivables.reason is 'Why it was corrected, voided or reversed.';
