import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What the arguments of operators' calls say about persons is kept apart from the sealed log. */

const exchange = testExchange(test);
const { makeTrader, operate, query } = exchange;

/** Texts that say nothing about a trader, and so are sealed as they are: for each reason, which. */
const plain: Record<string, string[]> = {
  "also in the ledger, which is kept by law": ["adjust_balance.reason"],
  "also in the ledger": [
    ...["adjust_balance.reference", "deposit.reference", "give_bonus.name"],
    ...["pay_out_fees.reference", "reverse_deposit.reason", "reverse_deposit.reference"],
    "withdraw.reference",
  ],
  "about a day": ["close_day.reason"],
  "of a market": [
    ...["copy_market.title", "correct_resolution.outcome", "create_market.category"],
    ...["create_market.description", "create_market.outcome_name", "create_market.thumbnail_url"],
    ...["create_market.title", "edit_market.category", "edit_market.description"],
    ...["edit_market.outcome_name", "edit_market.title", "preview_resolution.outcome"],
    ...["resolve_market.outcome", "set_market_status.status"],
  ],
  public: [
    ...["correct_resolution.evidence", "resolve_market.evidence", "set_market_source.rules"],
    "set_market_source.source_url",
  ],
  "about a market": ["correct_resolution.reason", "void_market.reason"],
  "of three values": ["create_api_key.scopes", "set_rate_policy.tier", "set_sign_up.policy"],
  "of a category": ["create_category.name", "create_category.slug", "set_fee_schedule.category"],
  "of an event": [
    ...["create_event.category", "create_event.description", "create_event.thumbnail_url"],
    ...["create_event.title", "edit_event.category", "edit_event.description", "edit_event.title"],
  ],
  "of staff, whom the log must name": ["create_staff.email"],
  "of staff": [
    ...["create_staff.login", "create_staff.name", "create_staff.roles", "create_staff_key.name"],
    ...["create_staff_key.role", "set_staff_roles.roles"],
  ],
  "not in the log": ["create_markets.markets", "end_sessions.cookie", "add_note.note"],
  "why there is nothing else left: it must not name the person": ["erase_user.reason"],
  "ids and amounts": ["give_bonus.users"],
  "the name of a command": [
    ...["propose.command", "remove_approval_rule.command", "set_approval_rule.command"],
  ],
  "not in the log; differences have references of the bank": ["reconcile.bank"],
  "the name of a role": ["set_approval_rule.role"],
  "of six values": ["set_cash_cap.kind"],
  "about the exchange": [
    ...["set_dispute_window.reason", "set_minimum_age.reason", "set_trading_pause.reason"],
  ],
  "the name of a counter": ["set_rate_limit.bucket"],
  "of two values": ["set_stream_cap.holder"],
  "about a trade": ["void_trade.reason"],
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
    Object.values(plain).flat().sort(),
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
