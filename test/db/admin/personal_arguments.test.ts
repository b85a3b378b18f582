import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What the arguments of operators' calls say about persons is kept apart from the sealed log. */

const exchange = testExchange(test);
const { makeTrader, operate } = exchange;

const query = async (statement: string, values: unknown[] = []): Promise<any[]> =>
  (await exchange.database.pool.query(statement, values)).rows;

/** Texts that say nothing about a trader, and so are sealed as they are. */
const plain: Record<string, string> = {
  "adjust_balance.reason": "also in the ledger, which is kept by law",
  "adjust_balance.reference": "also in the ledger",
  "close_day.reason": "about a day",
  "copy_market.title": "of a market",
  "correct_resolution.evidence": "public",
  "correct_resolution.outcome": "of a market",
  "correct_resolution.reason": "about a market",
  "create_api_key.scopes": "of three values",
  "create_category.name": "of a category",
  "create_category.slug": "of a category",
  "create_event.category": "of an event",
  "create_event.description": "of an event",
  "create_event.thumbnail_url": "of an event",
  "create_event.title": "of an event",
  "create_market.category": "of a market",
  "create_market.description": "of a market",
  "create_market.outcome_name": "of a market",
  "create_market.thumbnail_url": "of a market",
  "create_market.title": "of a market",
  "create_staff.email": "of staff, whom the log must name",
  "create_staff.login": "of staff",
  "create_staff.name": "of staff",
  "create_staff.roles": "of staff",
  "create_staff_key.name": "of staff",
  "create_staff_key.role": "of staff",
  "create_markets.markets": "not in the log",
  "deposit.reference": "also in the ledger",
  "edit_event.category": "of an event",
  "edit_event.description": "of an event",
  "edit_event.title": "of an event",
  "edit_market.category": "of a market",
  "edit_market.description": "of a market",
  "edit_market.outcome_name": "of a market",
  "edit_market.title": "of a market",
  "end_sessions.cookie": "not in the log",
  "erase_user.reason": "why there is nothing else left: it must not name the person",
  "give_bonus.name": "also in the ledger",
  "give_bonus.users": "ids and amounts",
  "add_note.note": "not in the log",
  "pay_out_fees.reference": "also in the ledger",
  "preview_resolution.outcome": "of a market",
  "propose.command": "the name of a command",
  "reconcile.bank": "not in the log; differences have references of the bank",
  "remove_approval_rule.command": "the name of a command",
  "resolve_market.evidence": "public",
  "resolve_market.outcome": "of a market",
  "reverse_deposit.reason": "also in the ledger",
  "reverse_deposit.reference": "also in the ledger",
  "set_approval_rule.command": "the name of a command",
  "set_approval_rule.role": "the name of a role",
  "set_cash_cap.kind": "of six values",
  "set_dispute_window.reason": "about the exchange",
  "set_fee_schedule.category": "of a category",
  "set_market_source.rules": "public",
  "set_market_source.source_url": "public",
  "set_market_status.status": "of a market",
  "set_minimum_age.reason": "about the exchange",
  "set_rate_limit.bucket": "the name of a counter",
  "set_rate_policy.tier": "of three values",
  "set_sign_up.policy": "of three values",
  "set_staff_roles.roles": "of staff",
  "set_stream_cap.holder": "of two values",
  "set_trading_pause.reason": "about the exchange",
  "void_market.reason": "about a market",
  "void_trade.reason": "about a trade",
  "withdraw.reference": "also in the ledger",
};

test("each text that a command takes is personal, or the list says why it is not", async (t) => {
  const rows = await query(`
    select c.command || '.' || a.name as argument, a.name = any (c.personal) as "isPersonal"
    from admin.commands as c
    join pg_proc as p on p.proname = c.command and p.pronamespace = 'admin'::regnamespace
    cross join lateral unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) as a (name, type)
    where a.type = any ('{text,text[],json,jsonb,inet,inet[],cidr,cidr[]}'::regtype[]::oid[])
    order by 1`);
  t.deepEqual(
    rows.filter(({ isPersonal }) => !isPersonal).map(({ argument }) => argument),
    Object.keys(plain).sort(),
  );
});

test("the sealed row has a salted hash, and operators read the arguments", async (t) => {
  const user_id = await makeTrader();
  for (let time = 0; time < 2; time++) {
    await operate("freeze_user", { user_id, reason: "seen in the Lion Inn" });
  }
  const rows = await query(
    `select a.arguments ->> 'reason' as sealed, encode(a.personal_digest, 'hex') as digest,
       encode(sha256(p.salt || convert_to('{"reason": "seen in the Lion Inn"}', 'UTF8')), 'hex')
         as computed,
       length(p.salt) as salt, e.arguments ->> 'reason' as shown
     from admin.audit_log as a
     join admin.personal_arguments as p on p.audit_id = a.id
     join admin.audit_entries as e on e.audit_key = a.id
     where a.action = 'freeze_user'`,
  );
  t.is(rows.length, 2);
  for (const row of rows) {
    t.is(row.sealed, null);
    t.is(row.shown, "seen in the Lion Inn");
    t.is(row.salt, 32);
    t.is(row.digest, row.computed);
  }
  t.not(rows[0].digest, rows[1].digest, "the same words have another hash each time");
});

test("a call without personal arguments has no hash", async (t) => {
  await operate("set_profile", { user_id: await makeTrader(), private: true });
  const [row] = await query(
    `select a.personal_digest as digest, a.arguments ? 'display_name' as "hasName", p.audit_id
     from admin.audit_log as a
     left join admin.personal_arguments as p on p.audit_id = a.id
     where a.action = 'set_profile' order by a.id desc limit 1`,
  );
  t.deepEqual(row, { digest: null, hasName: true, audit_id: null });
});
