import type { Mutation } from "./mutation.ts";

/** Exclusive events, and disputes of resolutions. */
export const outcomes: Mutation[] = [
  {
    name: "second_yes",
    breaks: "two markets of an exclusive event resolve YES",
    file: "trading/check/check_exclusive_payout.sql",
    from: "if v_cents > 100 then",
    to: "if v_cents > 200 then",
    tests: ["db/admin/exclusive_events"],
  },
  {
    name: "void_pays_on",
    breaks: "what a voided market of an exclusive event paid still counts",
    file: "trading/views/payouts_of_others.sql",
    from: "sum(other.yes_payout_cents) filter (where v.id is null) as yes_payout_cents,",
    to: "sum(other.yes_payout_cents) as yes_payout_cents,",
    tests: ["db/admin/exclusive_events"],
  },
  {
    name: "no_to_everybody",
    breaks: "NO is proposed while the others of an event pay less than 100 cents",
    file: "admin/views/markets.sql",
    from: "when others.yes_payout_cents = 100 then 'no'",
    to: "when others.yes_payout_cents > 50 then 'no'",
    tests: ["db/admin/exclusive_events"],
  },
  {
    name: "dispute_for_ever",
    breaks: "a resolution can be disputed after the window",
    file: "trading/settle/dispute_resolution.sql",
    from: "when (v_at < trading.disputable_until(dispute_resolution.market_id)) is not true",
    to: "when trading.disputable_until(dispute_resolution.market_id) is null",
    tests: ["db/api/dispute_resolution"],
  },
  {
    name: "dispute_of_a_stranger",
    breaks: "who held no shares can dispute",
    file: "trading/settle/dispute_resolution.sql",
    from: "        and s.user_id = dispute_resolution.user_id",
    to: "        and s.user_id is not null",
    tests: ["db/api/dispute_resolution"],
  },
  {
    name: "fees_of_voids_kept",
    breaks: "fee revenue does not say what voids gave back",
    file: "analytics/views/fee_revenue.sql",
    from: "filter (where v.id is not null or w.id is not null)",
    to: "filter (where v.id is not null)",
    tests: ["db/admin/void_trade"],
  },
  {
    name: "conversions_bring_nothing",
    breaks: "the leaderboard's check takes only merges for realised",
    file: "leaderboard/functions/verify.sql",
    from: "where c.yes_realised_cents is not null",
    to: "where c.kind = 'merge'",
    tests: ["db/leaderboard/refresh"],
  },
];
