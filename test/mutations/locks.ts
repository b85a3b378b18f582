import type { Mutation } from "./mutation.ts";

/** Locks that are left out, and rows that are read too early. */
export const locks: Mutation[] = [
  {
    name: "market_lock_shared",
    breaks: "the lock of a market lets several in at once",
    file: "trading/lock/lock_market.sql",
    from: "return pg_advisory_xact_lock(",
    to: "return pg_advisory_xact_lock_shared(",
    tests: ["concurrency/pairs"],
  },
  {
    name: "traders_not_locked",
    breaks: "a batch reads its traders without locking them",
    file: "trading/lock/lock_traders.sql",
    from: "for no key update;",
    to: ";",
    tests: ["concurrency/pairs"],
  },
  {
    name: "traders_locked_from_above",
    breaks: "users are locked in descending order",
    file: "trading/lock/lock_traders.sql",
    from: "order by t.user_id",
    to: "order by t.user_id desc",
    tests: ["db/trading/lock_traders"],
  },
  {
    name: "free_market_not_locked",
    breaks: "a call that waits for no market places orders in locked ones",
    file: "trading/lock/lock_free_markets.sql",
    from: "where u.id is null\n",
    to: "where true\n",
    tests: ["db/api/place_orders_markets"],
  },
  {
    name: "free_market_lock_shared",
    breaks: "a call that waits for no market shares the locks of its markets",
    file: "trading/lock/lock_free_markets.sql",
    from: "pg_try_advisory_xact_lock(",
    to: "pg_try_advisory_xact_lock_shared(",
    tests: ["concurrency/gathering"],
  },
  {
    name: "busy_market_waited_for",
    breaks: "a call that is to wait for no market waits for each",
    file: "trading/place/place_orders.sql",
    from: "if place_orders.waits then",
    to: "if true then",
    tests: ["db/api/place_orders_markets"],
  },
  {
    name: "later_makers_waited_for",
    breaks: "a call that holds users waits for more of them, in any order",
    file: "trading/read/read_batch.sql",
    from: `if trading.lock_free_traders(v_user_ids) <> '{}' then
        raise exception using errcode = 'lock_not_available';
      end if;`,
    to: "perform trading.lock_traders(v_user_ids);",
    tests: ["db/trading/lock_traders"],
  },
  {
    name: "cancel_all_without_lock",
    breaks: "a cancel of all orders does not lock the first market",
    file: "api/functions/cancel_all_orders.sql",
    from: `    perform trading.lock_market(v_market_ids[1]);
`,
    to: "",
    tests: ["concurrency/cancel_all"],
  },
  {
    name: "switch_without_lock",
    breaks: "a dead man's switch cancels orders of locked markets",
    file: "jobs/functions/cancel_dead_man_orders.sql",
    from: "trading.lock_free_markets(cancel_dead_man_orders.market_ids)",
    to: "cancel_dead_man_orders.market_ids",
    tests: ["db/api/set_dead_man"],
  },
  {
    name: "cancel_without_lock",
    breaks: "a cancel does not lock the market",
    file: "trading/change/cancel_order.sql",
    from: `  perform trading.lock_market(v_order.market_id);
`,
    to: "",
    tests: ["concurrency/pairs"],
  },
  {
    name: "amend_without_lock",
    breaks: "an amendment does not lock the market",
    file: "trading/change/amend_order.sql",
    from: `  perform trading.lock_market(v_order.market_id);
`,
    to: "",
    tests: ["concurrency/pairs"],
  },
  {
    name: "amend_by_an_old_look",
    breaks: "an amendment goes by the order as it was before the lock",
    file: "trading/change/amend_order.sql",
    from: `  m := trading.read_markets(array[v_order.market_id], v_at);
  select o.* into v_order
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o;`,
    to: "  m := trading.read_markets(array[v_order.market_id], v_at);",
    tests: ["concurrency/pairs"],
  },
  {
    name: "release_without_lock",
    breaks: "a release does not lock the market",
    file: "trading/lock/try_lock_market.sql",
    from: "if trading.lock_market_if_free(try_lock_market.market_id) then",
    to: "if true then",
    tests: ["concurrency/live_pairs"],
  },
  {
    name: "resolve_without_lock",
    breaks: "a resolution does not lock the market",
    file: "trading/settle/resolve_market.sql",
    from: "perform trading.lock_for_payout(resolve_market.market_id, resolve_market.yes_payout_cents);",
    to: "perform catalog.lock_event(resolve_market.market_id);",
    tests: ["concurrency/settlement", "concurrency/live_pairs"],
  },
  {
    name: "resolve_without_event_lock",
    breaks: "a resolution does not lock the event",
    file: "catalog/functions/lock_event.sql",
    from: `
  for no key update;`,
    to: ";",
    tests: ["concurrency/settlement"],
  },
  {
    name: "settle_without_locking_users",
    breaks: "a settlement moves cash of users that it has not locked",
    file: "trading/settle/settle_market.sql",
    from: `    for no key update of t
`,
    to: "",
    tests: ["concurrency/settlement"],
  },
  {
    name: "merge_without_lock",
    breaks: "a merge does not lock the market",
    file: "trading/change/merge_position.sql",
    from: `  perform trading.lock_market(v_market_id);
`,
    to: "",
    tests: ["concurrency/settlement", "concurrency/live_pairs"],
  },
  {
    name: "split_without_lock",
    breaks: "a split does not lock the market",
    file: "trading/change/split_position.sql",
    from: `  perform trading.lock_market(v_market_id);
`,
    to: "",
    tests: ["concurrency/settlement"],
  },
  {
    name: "exclude_looks_once",
    breaks: "self-exclusion and freezing miss the markets that the user came to meanwhile",
    file: "trading/lock/lock_user_with_markets.sql",
    from: "where b.user_id = v_user_id and b.market_id <> all (v_market_ids)",
    to: "where b.user_id = v_user_id and false",
    tests: ["concurrency/pairs", "concurrency/operators"],
  },
  {
    name: "cash_moved_without_lock",
    breaks: "a deposit does not lock its user",
    file: "ledger/functions/move_cash.sql",
    from: "v_user_id := identity.lock_user(move_cash.user_id);",
    to: "v_user_id := identity.user_id(move_cash.user_id);",
    tests: ["concurrency/pairs"],
  },
  {
    name: "fees_paid_out_without_lock",
    breaks: "a fee payout does not lock its markets",
    file: "trading/settle/pay_out_fees.sql",
    from: "perform trading.lock_markets(v_market_ids);",
    to: "",
    tests: ["concurrency/cash_movements"],
  },
  {
    name: "counters_not_locked",
    breaks: "requests are counted by what the counter was before others",
    file: "rate_limits/functions/lock_counters.sql",
    from: "on conflict on constraint windows_pkey do update set taken = w.taken where false;",
    to: "on conflict on constraint windows_pkey do nothing;",
    tests: ["concurrency/rate_limits"],
  },
  {
    name: "user_not_locked",
    breaks: "self-exclusion and limits do not lock their user",
    file: "identity/functions/lock_user.sql",
    from: "for no key update;",
    to: ";",
    tests: ["concurrency/pairs"],
  },
  {
    name: "exclude_without_markets",
    breaks: "self-exclusion does not lock the markets of the orders that it cancels",
    file: "trading/lock/lock_user_with_markets.sql",
    from: `        perform trading.lock_market(v_market_id);
`,
    to: "",
    tests: ["concurrency/live_pairs", "concurrency/pairs"],
  },
  {
    name: "status_without_lock",
    breaks: "an operator closes a market without locking it",
    file: "admin/functions/set_market_status.sql",
    from: `  perform trading.lock_market(v_market_id);
`,
    to: "",
    tests: ["concurrency/pairs", "concurrency/live_pairs"],
  },
  {
    name: "correct_without_lock",
    breaks: "a correction does not lock the market, nor the row of its event",
    file: "trading/settle/correct_resolution.sql",
    from: `  perform trading.lock_for_payout(
    correct_resolution.market_id, correct_resolution.yes_payout_cents
  );
  v_at`,
    to: "  v_at",
    tests: ["concurrency/moved_outcomes"],
  },
  {
    name: "expire_without_lock",
    breaks: "the expiry sweep does not lock the market",
    file: "jobs/functions/expire_orders.sql",
    from: "if not trading.try_lock_market(expire_orders.market_id, expire_orders.waits) then",
    to: "if false then",
    tests: ["concurrency/jobs"],
  },
  {
    name: "close_without_lock",
    breaks: "a market is closed at its time without being locked",
    file: "jobs/functions/close_markets.sql",
    from: "if not trading.try_lock_market(close_markets.market_id, close_markets.waits) then",
    to: "if false then",
    tests: ["concurrency/jobs"],
  },
  {
    name: "makers_before_the_taker",
    breaks: "makers are locked before the takers, whatever their order",
    file: "trading/read/read_batch.sql",
    from: "when 'wait' then perform trading.lock_traders(v_user_ids);",
    to: `when 'wait' then
      perform trading.lock_traders((batch.makers).user_id);
      perform trading.lock_traders(v_user_ids);`,
    tests: ["db/trading/lock_traders"],
  },
];
